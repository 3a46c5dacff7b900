"""What several widgets use: their base class, and pictures of banks and sectors."""
