"""A router that can be read: rules in order, of which the first that fits decides."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .retrieved import DataType, Decision
from .routing_labels import RelationshipDecision


@dataclass(frozen=True)
class Rule:
    """A rule fits a question in which all `has` are found, in any order, and `unless`, if given, is not.

    They are regular expressions, read without regard to case. `says` is the reason in words. With
    `relationship`, the rows are reached from row to row.
    """

    says: str
    route: DataType
    has: tuple[str, ...]
    unless: str = ""
    relationship: bool = False

    def fits(self, question: str) -> bool:
        """Return whether this rule decides the question."""
        excluded = bool(self.unless) and _found(self.unless, question)
        return not excluded and all(_found(pattern, question) for pattern in self.has)


def words(*phrases: str) -> str:
    """Return the pattern of any of these phrases, as whole words: "carriers? | on its way | refund\\w*"."""
    parts = [part.strip() for phrase in phrases for part in phrase.split(" | ")]
    return r"\b(?:" + "|".join(re.sub(r"\s+", r"\\s+", part) for part in parts) + r")(?!\w)"


def _found(pattern: str, question: str) -> bool:
    return re.search(pattern, question, re.IGNORECASE | re.DOTALL) is not None


TRACKING = r"\bGP-\d{4}-\d{5}-[A-Z]\b"
ORDER = r"\border\s*(?:no\.?|number|#|nr\.?)?\s*\d{3,}\b"
CARRIER = words(
    "gauraiya | (carrier|courier)('s)? | parcels? | consignments? | shipments? | packet | tracking",
    r"express | bulky | tariff | surcharges? | service levels | (to the|which) (\w+ )?zone",
)
UNDERWAY = words(
    r"where (is|has) | arriv\w* | deliver(ed|y) | promised | on its way | picked up | late | delayed | held",
    r"track\w* | scan\w* | detour | hubs? | van | driver | attempt | visits? | service | town | come",
)
TROUBLE = words(
    r"disruptions? | road closed | closed road | (is|are there any|why is) (\w+ )?delay(s|ed)",
    "holding up deliver(y|ies)",
)
# What the help centre says about paying and giving back, not what the carrier knows.
POLICY = words(
    r"cash (?!on delivery (parcel|consignment))\w+ | cash | pay | paid back | return(s|ed)?(?! pickup)",
    r"refund\w* | refuse | cancel\w* | exchange | charge (me|back) | cost me | fees? | rules?",
)
MOST = r"(?<!\bat\s)(?:best|most|worst|least|top|(?:high|low|new|old|cheap|dear|bigg)est)"
RANKED = words(
    f"{MOST} | sold (best|most|more|worst) | took over from | successors? of | replacement (for|of)",
    "(that|which) replaced | the accessory (of|sold)",
)
PROSE = words(
    "how (do|can|should|is|are|long|far|hot|fat|thick|high|heavy|wide|to)",
    r"what do(es)? (\w+ ){0,4}(say|complain|write|mean|advise|report|blame|do)",
    "what (size|weight|load|wind|bulb|care|helps?) | (does|will|is) (it|its)",
    "(may|can|should) (i|it|s?he|we|they)",
    r"why | articles? | complaints? | praise | sentiment | explains? | tickets say | summari[sz]e",
    r"reviews? say",
    r"wash\w* | clean\w* | fitted | warranty | fits? | battery | lasts? | exchange",
)
RELATED = words(
    "whom? (reports?|brought|referred|bought|else|is (above|under|the boss)) | with whom | whose",
    r"boss | manager | superior | reports? to | referr(ed|als?|er) | brought (in|whom)",
    r"works? (together )?with",
    "(customers|people|those|shoppers) (who|that) (also )?(bought|got|purchased|ordered|reviewed)",
    "(customers|people|those|shoppers) (with both|brought) | also (bought|buy) | who got",
    "bought .{0,60} (later|as well|too) | step by step | chain | all the way | up the line",
)
TAKES_PLACE = words(
    "(which|what|that|did) .{0,60}replaced? | took the place of | compatible with",
    "accessor(y|ies) (belong|of) | successors?",
)
COUNTED = words(
    "how many | how much (money|revenue|did) | how often | number of | count (of|the|all|open) | on average",
    r"average | mean (\w+ ){0,2}(amount|time|days|stars|number|gap) | median | total | sum of | share of",
    r"per cent | percentage | turnover | revenue | top (\d+|two|three|five|ten) | rank | growth",
    r"did we sell",
    "(per|by|each) (month|region|city|tier|category|product)",
    r"which (\w+ )?(suppliers?|customers?|cit(y|ies)|regions?|teams?|departments|categor\w+|months?|weekday)",
    "(orders|customers|products|cities) (above|below|with|that|where) | who in | everybody",
)
# A number that stands in a manual, a policy or a description: nothing is counted.
STATED = (
    words(
        r"how many (\w+ ){0,2}(can|may|fit|do i|does (it|the|a))",
        "warranty | battery | guarantee | my | mine",
    )
    + r"|\A(?!.*\b(?:average|orders?|refunds?)\b).*\bhow\s+many\s+(?:hours|months|days|metres|devices)\b"
)

RULES: tuple[Rule, ...] = (
    Rule(
        "the carrier knows where it is, and the shop's terms what follows",
        DataType.MIXED,
        (f"{ORDER}|{TRACKING}", f"{UNDERWAY}|{CARRIER}", POLICY),
    ),
    Rule("a tracking number: the carrier knows it", DataType.SEMI_STRUCTURED, (TRACKING,)),
    Rule(
        "an order on its way: the carrier knows where",
        DataType.SEMI_STRUCTURED,
        (ORDER, f"{UNDERWAY}|{CARRIER}"),
    ),
    Rule("an order by its number: one row", DataType.STRUCTURED, (ORDER,)),
    Rule(
        "what the carrier carries, when and for how much",
        DataType.SEMI_STRUCTURED,
        (f"{CARRIER}|{TROUBLE}",),
        unless=POLICY,
    ),
    Rule(
        "rows name a thing, and prose tells of it",
        DataType.MIXED,
        (RANKED, PROSE),
        unless=f"{RELATED}|{words('on average | how many (customers|orders|refunds|active)')}",
    ),
    Rule(
        "who belongs to whom: from row to row",
        DataType.STRUCTURED,
        (RELATED,),
        unless=words("how do | what may | how long | warranty lasts?"),
        relationship=True,
    ),
    Rule(
        "which thing took the place of which: from row to row",
        DataType.STRUCTURED,
        (TAKES_PLACE,),
        unless=PROSE,
        relationship=True,
    ),
    Rule("counted, added up or compared over rows", DataType.STRUCTURED, (COUNTED,), unless=STATED),
    Rule(
        "the first or last of a ranking",
        DataType.STRUCTURED,
        (
            words(MOST),
            words("sold | orders? | refunds? | spending | expensive | reviews | stars | rated | rate"),
        ),
    ),
    Rule(
        "price, status or date of one product: one row",
        DataType.STRUCTURED,
        (words("list price | launch date | launched on | or discontinued"),),
    ),
)


class RuleClassifier:
    """Ordered rules: `RuleClassifier()("status of order 10452")`. No rule fits: prose.

    Rules look at words with their neighbours, never at parts of words: "what state of mind" says nothing
    about states. They see the question as text: an instruction inside it is no rule. `rules` replaces the
    default ones. Raises TypeError for a question that is no text.
    """

    def __init__(self, rules: Sequence[Rule] = RULES) -> None:
        self.rules = tuple(rules)

    def __call__(self, question: str) -> Decision:
        if not isinstance(question, str):
            raise TypeError(f"question must be a text, not {type(question).__name__}.")
        for number, rule in enumerate(self.rules, start=1):
            if rule.fits(question):
                kind = RelationshipDecision if rule.relationship else Decision
                return kind(route=rule.route, note=f"rule {number}: {rule.says}")
        return Decision(DataType.UNSTRUCTURED, "no rule fits: something to read")
