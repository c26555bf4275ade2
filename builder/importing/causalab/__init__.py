"""The public causalab reference's models as a release."""
