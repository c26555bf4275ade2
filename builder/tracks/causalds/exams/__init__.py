"""Exams of causalds: which task each scene is asked, by the composition model of paper A.7 and A.8.

``model`` reads an exam file, ``candidates`` says what a scene can be asked, built or planned, and
``compose`` makes the exam, by the ``priors`` of the composition model where it has some.
"""
