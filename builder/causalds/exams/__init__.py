"""Exams of causalds: which task each scene is asked, by the composition model of paper A.7 and A.8.

``model`` reads an exam file, ``cells`` draws a family, a variant and a view for one scene,
``draw`` makes an exam of tasks that are already built, ``assign`` plans the scenes of a
private-truth split for its exams, ``labels`` says which answers a task can have.
"""
