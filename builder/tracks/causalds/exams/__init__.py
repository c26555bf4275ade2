"""Compose exams of causalds: choose the task that each scene is asked (paper A.7 and A.8).

``model`` reads an exam file, ``candidates`` lists what a scene can be asked, built or planned, and
``compose`` makes the exam, by the ``priors`` of the composition model where it has some.
"""
