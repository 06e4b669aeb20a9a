"""Text -> does it say what another one says: exact keys, candidates, and the decision by text.

Nothing here knows a store or a model: the write path brings the texts and the cosine.
"""

from indexing.dedup.minhash import bands, signature, similarity
from indexing.dedup.near import Verdict, decide, gist
from indexing.dedup.normal import exact_key, normal

__all__ = ["Verdict", "bands", "decide", "exact_key", "gist", "normal", "signature", "similarity"]
