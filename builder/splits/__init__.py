"""What a split file asks for: settings, secrets, keys, and the record that describes a track."""
