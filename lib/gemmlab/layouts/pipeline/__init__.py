"""A model of copies and products that overlap on one SM, and its runs in words."""
