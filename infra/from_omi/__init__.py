"""Moving from Omi's own project: its documents become zips that an import takes."""
