"""The Hub: releases from it, submissions to it, and what a maintainer makes of these.

``huggingface_hub`` is imported by :mod:`grader.hub.client` alone, when a command needs the Hub.
"""
