"""Tables, pictures and pages as values, without a track in mind."""
