"""A person's memories out of a deployment and into one: the store's side of `indexing.portable`.

``export`` reads all that is kept of a user, ``restore`` takes a file of our own back, ``adopt``
that of another system. Does not: know how a file is written (`indexing.portable`).
"""
