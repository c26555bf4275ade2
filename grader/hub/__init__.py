"""The Hub: releases from it, submissions to it, and what a maintainer makes of these.

``huggingface_hub`` is imported where a command needs the Hub, not before.
"""
