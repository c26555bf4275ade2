"""What identification is checked by: functionals, witnesses, enumeration, outside engines."""
