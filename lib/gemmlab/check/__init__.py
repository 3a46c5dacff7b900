"""Is a step right: many shapes and factors, a poisoned output, a reference in double precision."""
