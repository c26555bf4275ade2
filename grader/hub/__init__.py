"""The Hub, whose package is imported late: releases, submissions, a maintainer's answers."""
