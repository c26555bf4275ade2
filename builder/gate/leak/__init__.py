"""The leak test: does anything public give away a private fact?"""
