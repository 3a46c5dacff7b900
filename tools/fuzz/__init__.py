"""Random cases by the thousand: launches of the steps, and launches that no step would make."""
