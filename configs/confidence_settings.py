"""What the settings file says of `retrieval.relevance`: what each sign of an answer weighs."""

from pydantic import Field

from configs.section import Section
from retrieval.relevance import E5, Weights


class ConfidenceSettings(Section):
    """Weights of "nothing found", for the embedder; ``python -m evals.nothing --fit`` fits them."""

    usual: float = Field(
        E5.usual, lt=1, description="the model's usual cosine of a question and any text"
    )
    both: tuple[float, float, float, float] = Field(
        E5.both, description="of lift, coverage, known words and the constant"
    )
    dense: tuple[float, float, float] = Field(
        E5.dense, description="of lift, another language and the constant, without words"
    )
    lexical: tuple[float, float, float] = Field(
        E5.lexical, description="of coverage, known words and the constant, without vectors"
    )

    def weights(self) -> Weights:
        """Return them as the read side takes them."""
        return Weights(self.usual, self.both, self.dense, self.lexical)
