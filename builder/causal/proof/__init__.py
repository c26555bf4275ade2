"""What only proves: witnesses, enumeration, and other people's engines."""
