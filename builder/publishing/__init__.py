"""Publishing a release on the Hub: its files, the check for private ones, errata, the upload."""
