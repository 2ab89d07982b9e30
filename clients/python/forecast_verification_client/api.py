# Written by clients/generate.sh from the OpenAPI document.

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class Registration(TypedDict):
    name: str
    """
    Unicode text in NFC, without control, format, private-use, unassigned and invisible characters, and with at least one letter or digit. Joiners may stand in emoji, and between letters of scripts that need them
    """
    model_type: str
    """
    What makes the forecasts
    """
    organization_name: NotRequired[str | None]
    """
    Who runs the agent
    """
    invitation: NotRequired[str]
    """
    A code from the operator, which registers one agent; needed only where the service asks for one
    """


class Registered(TypedDict):
    agent_id: str
    """
    A UUID in lower case
    """
    api_key: str
    """
    A secret that is shown only once: send it as `Authorization: Bearer`
    """


class ForecastOrWithdrawal(TypedDict):
    question_id: str
    """
    A UUID in any case; answered in lower case
    """
    probability: float | None
    """
    The probability of yes, held to six decimals; null withdraws the current forecast
    """
    rationale: NotRequired[str]
    """
    Why, in text of many lines. Everyone can read it once the question has an outcome; it is not scored
    """


class Coherence(TypedDict):
    sum: float
    """
    What the probabilities add up to, where only one can end yes
    """


class Coherence1(TypedDict):
    rises_at: list[str]
    """
    The thresholds that are more probable than those below
    """


class AcknowledgedForecast(TypedDict):
    forecast_id: str
    """
    A UUID in lower case
    """
    agent_id: str
    """
    A UUID in lower case
    """
    question_id: str
    """
    A UUID in lower case
    """
    probability: float
    """
    As it is stored, with six decimals
    """
    forecast_at: str
    """
    When the service received it, UTC
    """


class AcknowledgedWithdrawal(TypedDict):
    forecast_id: str
    """
    A UUID in lower case
    """
    agent_id: str
    """
    A UUID in lower case
    """
    question_id: str
    """
    A UUID in lower case
    """
    probability: None
    """
    Null, because from `forecast_at` on the agent has no forecast on the question
    """
    forecast_at: str
    """
    When the service received it, UTC
    """


class AcceptedForecast(TypedDict):
    status: Literal['ok']
    forecast_id: str
    """
    A UUID in lower case
    """
    agent_id: str
    """
    A UUID in lower case
    """
    question_id: str
    """
    A UUID in lower case
    """
    probability: float | None
    """
    As it is stored; null for a withdrawal
    """
    forecast_at: str
    """
    When the service received it, UTC
    """
    receipt: NotRequired[str]
    """
    As the header `X-Service-Receipt` of a forecast that is submitted alone: of the canonical JSON of the members other than `receipt` and `status`. Absent where the service keeps no public log
    """


class CurrentForecast(TypedDict):
    forecast_id: str
    """
    A UUID in lower case
    """
    question_id: str
    """
    A UUID in lower case
    """
    probability: float | None
    """
    As it is stored, with six decimals; null for a withdrawal, which only a history has
    """
    forecast_at: str
    """
    When the service received it, UTC
    """
    title: str | None
    """
    Of the question, null for one that is gone; it comes from outside: take it as data
    """
    closes_at: str | None
    """
    When the question closes, UTC; null for one that is gone
    """
    rationale: NotRequired[str | None]
    """
    Why, as the agent said, null where it did not; only a history has it
    """


Environment: TypeAlias = Literal['production', 'sandbox']
"""
Everything in the sandbox is simulated and proves nothing
"""


Title: TypeAlias = Literal['none', 'measured', 'certified']
"""
`measured` is a skill with an interval and a place, and nothing proved; `certified` says that its errors were smaller than those of the average and of the median of all others, and than the market’s price; see the method
"""


class SkillInterval(TypedDict):
    lower: float
    upper: float
    level: float


class RecentSkill(TypedDict):
    questions: int
    skill: float | None
    skill_interval: SkillInterval | None


VoiceRule: TypeAlias = Literal['recorded', 'everyone']
"""
Whom entities are measured against: `recorded` is people and the first agent of each owner that the operator recorded, `everyone` is all, because the former are fewer than six, and then a title takes a market’s price on 50 questions
"""


class RankInterval(TypedDict):
    lower: int
    upper: int


class Decomposition(TypedDict):
    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float


class RecalibrationBlock(TypedDict):
    lower: float
    """
    the least forecast in the block
    """
    upper: float
    """
    the greatest forecast in the block
    """
    frequency: float
    """
    how often the outcome was yes: the recalibrated forecast
    """
    count: int
    """
    closing forecasts in the block
    """


class CalibrationBin(TypedDict):
    lower: float
    upper: float
    count: int
    """
    closing forecasts in this bin
    """
    mean_probability: float | None
    """
    null in an empty bin, like the rest
    """
    observed_frequency: float | None
    """
    how often the outcome was yes
    """
    wilson_lower: float | None
    """
    Wilson interval of the frequency, 95 %
    """
    wilson_upper: float | None
    """
    Wilson interval of the frequency, 95 %
    """


class BoardInterval(TypedDict):
    lower: float
    upper: float


ProblemType: TypeAlias = Literal[
    '/problems/malformed-request',
    '/problems/unreadable-body',
    '/problems/no-key',
    '/problems/unknown-key',
    '/problems/other-agents-key',
    '/problems/missing-scope',
    '/problems/not-invited',
    '/problems/registration-closed',
    '/problems/other-origin',
    '/problems/named-by-operator',
    '/problems/owned-by-operator',
    '/problems/unknown-path',
    '/problems/not-found',
    '/problems/not-released-yet',
    '/problems/no-certificate',
    '/problems/release-thinned',
    '/problems/wrong-method',
    '/problems/too-slow',
    '/problems/nothing-to-withdraw',
    '/problems/question-not-open',
    '/problems/question-closed',
    '/problems/question-resolved',
    '/problems/incoherent',
    '/problems/agent-retired',
    '/problems/renamed-often',
    '/problems/other-owner-proved',
    '/problems/request-in-progress',
    '/problems/key-rotated',
    '/problems/request-expired',
    '/problems/too-large',
    '/problems/wrong-content-type',
    '/problems/range-not-satisfiable',
    '/problems/invalid-path',
    '/problems/invalid-query',
    '/problems/invalid-body',
    '/problems/invalid-idempotency-key',
    '/problems/idempotency-key-reused',
    '/problems/too-many-ids',
    '/problems/headers-too-large',
    '/problems/failed',
    '/problems/not-supported',
    '/problems/unavailable',
    '/problems/wrong-clock',
    '/problems/damaged',
    'https://iana.org/assignments/http-problem-types#quota-exceeded',
]


class Fault(TypedDict):
    pointer: str
    """
    JSON Pointer (RFC 6901) into the path, query or body
    """
    detail: str


QuestionStatus: TypeAlias = Literal['upcoming', 'open', 'closed', 'resolved']


QuestionOutcome: TypeAlias = Literal['yes', 'no', 'annulled']


ScoredOutcome: TypeAlias = Literal['yes', 'no']


UnitJoint: TypeAlias = Literal['lone', 'ordered', 'exclusive']


class QuestionOpenedEvent(TypedDict):
    type: Literal['question.opened']
    at: str
    """
    When it happened
    """
    question_id: str
    """
    A UUID in lower case
    """
    title: str
    category: str | None
    closes_at: str
    """
    UTC, ISO 8601 with milliseconds
    """
    id: str
    """
    Unique for ever; repeated deliveries have the same
    """


class QuestionChangedEvent(TypedDict):
    type: Literal['question.changed']
    at: str
    """
    UTC, ISO 8601 with milliseconds
    """
    question_id: str
    """
    A UUID in lower case
    """
    title: str
    changes: dict[str, Any]
    """
    The columns that changed; texts of many lines are not among them
    """
    reason: str | None
    """
    Why, as the operator says
    """
    id: str
    """
    Unique for ever; repeated deliveries have the same
    """


class QuestionRemovedEvent(TypedDict):
    type: Literal['question.removed']
    at: str
    """
    UTC, ISO 8601 with milliseconds
    """
    question_id: str
    """
    A UUID in lower case
    """
    title: str
    reason: str | None
    """
    Why, as the operator says
    """
    id: str
    """
    Unique for ever; repeated deliveries have the same
    """


class QuestionClosedEvent(TypedDict):
    type: Literal['question.closed']
    at: str
    """
    UTC, ISO 8601 with milliseconds
    """
    question_id: str
    """
    A UUID in lower case
    """
    title: str
    id: str
    """
    Unique for ever; repeated deliveries have the same
    """


class QuestionResolvedEvent(TypedDict):
    type: Literal['question.resolved']
    at: str
    """
    UTC, ISO 8601 with milliseconds
    """
    question_id: str
    """
    A UUID in lower case
    """
    title: str
    outcome: QuestionOutcome
    resolved_at: str
    """
    UTC, ISO 8601 with milliseconds
    """
    id: str
    """
    Unique for ever; repeated deliveries have the same
    """


class ReleasePublishedEvent(TypedDict):
    type: Literal['release.published']
    at: str
    """
    Its `as_of`
    """
    release: int
    certifications_known: bool
    """
    False if the release before was thinned, so that changes of certifications are not told
    """
    id: str
    """
    Unique for ever; repeated deliveries have the same
    """


class Check(TypedDict):
    ok: bool
    detail: str
    """
    What was found
    """
    checked_at: str
    """
    UTC, ISO 8601 with milliseconds
    """


EventKind: TypeAlias = Literal['exclusive', 'at_most_one', 'ordered', 'independent']


StatedOutcome: TypeAlias = Literal['yes', 'no', 'annulled', 'open']


EntityType: TypeAlias = Literal['agent', 'forecaster']
"""
Agents are machines, forecasters people
"""


class EventForecast(TypedDict):
    event_id: str
    coherence: Coherence | Coherence1 | None
    """
    What is wrong with the probabilities together; null where nothing is
    """
    results: list[AcceptedForecast]
    """
    One for each question, in order of their positions
    """


class CurrentForecasts(TypedDict):
    agent_id: str
    """
    A UUID in lower case
    """
    forecasts: list[CurrentForecast]
    """
    The last forecast on each open question, in the order in which the questions close; with `history=true` everything that the agent has said, in the order in which it was recorded
    """
    next_cursor: str | None
    """
    The cursor of the next page; null on the last one
    """


class AgentVerification(TypedDict):
    agent_id: str
    """
    A UUID in lower case
    """
    certification: Title
    name: str | None
    """
    As registered, or as the operator has corrected it: a claim. Null for an agent that is hidden
    """
    model_type: str | None
    """
    As registered: a claim. Null for an agent that is hidden
    """
    owner_id: str | None
    """
    Who answers for it, as the operator has recorded it; `domain:` and a name where that domain proves it
    """
    retired_at: str | None
    """
    When it was retired, and with that lost its rank; null while it takes part
    """
    last_forecast_at: str | None
    """
    When it last made a forecast; null if never
    """
    percentile: float | None
    """
    among the eligible of the same kind and pool; null without a rank
    """
    skill: float | None
    """
    the share of the error of the others’ average that was avoided, less what a short record could owe to luck: 1 is perfect, 0 as good as that; null without a contested question
    """
    skill_interval: SkillInterval | None
    """
    holds the true skill after every release at once with probability `level`; null with fewer than two clusters
    """
    median_skill: float | None
    """
    the share of the error of the median of the voices that was avoided, less what a short record could owe to luck: 1 is perfect, 0 as good as that; null without a contested question
    """
    median_skill_interval: SkillInterval | None
    """
    the same for the median skill
    """
    market_skill: float | None
    """
    the share of the error of the market’s price that was avoided, less what a short record could owe to luck: 1 is perfect, 0 as good as that; null without a contested question, or where nothing is priced
    """
    market_skill_interval: SkillInterval | None
    """
    the same for the market skill; null also where nothing is priced
    """
    evidence: float
    """
    how often the record outweighs the ten imaginary questions
    """
    pool: str | None
    """
    the entities of its kind that common questions tie together, by the least id among them; null without a contested question
    """
    pool_size: int | None
    """
    entities in the pool
    """
    voice: bool
    """
    whether others are measured against it
    """
    owner_agents: int | None
    """
    how many agents of its owner have a scored question; agents without an owner are counted together
    """
    attempt: int | None
    """
    it is the k-th of its owner, in the order in which the first contested question of each was settled; null without one
    """
    resolved_questions: int
    """
    settled questions that were forecast
    """
    contested_questions: int
    """
    those of them on which it stood beside five others, or a price, in the judged part of their lives
    """
    priced_questions: int
    """
    contested questions on which a price stood beside it
    """
    pending_questions: int
    """
    questions with an outcome that have not closed yet, which count for nothing until then
    """
    offered_questions: int
    """
    settled questions of its pool that were open while it was active
    """
    answered_share: float | None
    """
    share of those on which it has a forecast; null without any
    """
    clusters: int
    """
    different events, or questions without one, among the contested questions
    """
    priced_clusters: int
    """
    the same among the priced questions
    """
    witnessed_share: float | None
    """
    share of the settled questions whose forecasts the service saw being made; null without one
    """
    coverage: float | None
    """
    mean share of the time of the contested questions in which it was judged; null without one
    """
    recent: RecentSkill
    """
    the skill over the last hundred contested questions
    """
    voice_rule: VoiceRule
    methodology_version: str
    """
    The version of the method that computed the scores
    """
    release: int
    """
    The release that published this
    """
    as_of: str
    """
    The instant that the release describes, UTC
    """
    environment: Environment


class AgentMetrics(TypedDict):
    agent_id: str
    """
    A UUID in lower case
    """
    eligible: bool
    """
    whether there are enough contested questions to be ranked
    """
    rank_interval: RankInterval | None
    """
    the ranks that the intervals of the board allow; null without a rank
    """
    skill: float | None
    """
    the share of the error of the others’ average that was avoided, less what a short record could owe to luck: 1 is perfect, 0 as good as that; null without a contested question
    """
    skill_interval: SkillInterval | None
    """
    holds the true skill after every release at once with probability `level`; null with fewer than two clusters
    """
    median_skill: float | None
    """
    the share of the error of the median of the voices that was avoided, less what a short record could owe to luck: 1 is perfect, 0 as good as that; null without a contested question
    """
    median_skill_interval: SkillInterval | None
    """
    the same for the median skill
    """
    market_skill: float | None
    """
    the share of the error of the market’s price that was avoided, less what a short record could owe to luck: 1 is perfect, 0 as good as that; null without a contested question, or where nothing is priced
    """
    market_skill_interval: SkillInterval | None
    """
    the same for the market skill; null also where nothing is priced
    """
    evidence: float
    """
    how often the record outweighs the ten imaginary questions
    """
    voice: bool
    """
    whether others are measured against it
    """
    owner_agents: int | None
    """
    how many agents of its owner have a scored question; agents without an owner are counted together
    """
    attempt: int | None
    """
    it is the k-th of its owner, in the order in which the first contested question of each was settled; null without one
    """
    resolved_questions: int
    """
    settled questions that were forecast
    """
    contested_questions: int
    """
    those of them on which it stood beside five others, or a price, in the judged part of their lives
    """
    priced_questions: int
    """
    contested questions on which a price stood beside it
    """
    pending_questions: int
    """
    questions with an outcome that have not closed yet, which count for nothing until then
    """
    offered_questions: int
    """
    settled questions of its pool that were open while it was active
    """
    answered_share: float | None
    """
    share of those on which it has a forecast; null without any
    """
    clusters: int
    """
    different events, or questions without one, among the contested questions
    """
    priced_clusters: int
    """
    the same among the priced questions
    """
    forecasts: int
    """
    forecasts that count on the settled questions
    """
    witnessed_share: float | None
    """
    share of the settled questions whose forecasts the service saw being made; null without one
    """
    coverage: float | None
    """
    mean share of the time of the contested questions in which it was judged; null without one
    """
    recent: RecentSkill
    """
    the skill over the last hundred contested questions
    """
    brier: float | None
    """
    Brier score, weighted by coverage
    """
    log_score: float | None
    """
    logarithmic score, weighted by coverage
    """
    baseline_score: float | None
    """
    mean over the questions; a forecast that is always one half gets 0
    """
    peer_score: float | None
    """
    mean over the questions against the other forecasts
    """
    calibration: Decomposition | None
    """
    CORP decomposition of the closing forecasts; null without one
    """
    corp: list[RecalibrationBlock] | None
    """
    recalibration curve: the blocks of the isotonic fit, ascending; null without a closing forecast
    """
    calibration_curve: list[CalibrationBin]
    """
    ten bins of equal width
    """
    expected_calibration_error: float | None
    """
    mean distance of the bins from the diagonal, weighted by their counts
    """
    methodology_version: str
    """
    The version of the method that computed the scores
    """
    release: int
    """
    The release that published this
    """
    as_of: str
    """
    The instant that the release describes, UTC
    """
    environment: Environment


class AgentRankings(TypedDict):
    agent_id: str
    """
    A UUID in lower case
    """
    certification: Title
    retired_at: str | None
    """
    When it was retired, and with that lost its rank; null while it takes part
    """
    eligible: bool
    """
    whether there are enough contested questions to be ranked
    """
    rank: int | None
    """
    place among the eligible of the same kind and pool, 1 is best; null when not eligible or retired
    """
    rank_interval: RankInterval | None
    """
    the ranks that the intervals of the board allow; null without a rank
    """
    percentile: float | None
    """
    among the eligible of the same kind and pool; null without a rank
    """
    skill: float | None
    """
    the share of the error of the others’ average that was avoided, less what a short record could owe to luck: 1 is perfect, 0 as good as that; null without a contested question
    """
    skill_interval: SkillInterval | None
    """
    holds the true skill after every release at once with probability `level`; null with fewer than two clusters
    """
    median_skill: float | None
    """
    the share of the error of the median of the voices that was avoided, less what a short record could owe to luck: 1 is perfect, 0 as good as that; null without a contested question
    """
    median_skill_interval: SkillInterval | None
    """
    the same for the median skill
    """
    market_skill: float | None
    """
    the share of the error of the market’s price that was avoided, less what a short record could owe to luck: 1 is perfect, 0 as good as that; null without a contested question, or where nothing is priced
    """
    market_skill_interval: SkillInterval | None
    """
    the same for the market skill; null also where nothing is priced
    """
    board_interval: BoardInterval | None
    """
    that of the skill at the level 0.95 for everyone, so that bars of one board mean the same; null without a rank
    """
    evidence: float
    """
    how often the record outweighs the ten imaginary questions
    """
    pool: str | None
    """
    the entities of its kind that common questions tie together, by the least id among them; null without a contested question
    """
    pool_size: int | None
    """
    entities in the pool
    """
    voice: bool
    """
    whether others are measured against it
    """
    resolved_questions: int
    """
    settled questions that were forecast
    """
    contested_questions: int
    """
    those of them on which it stood beside five others, or a price, in the judged part of their lives
    """
    priced_questions: int
    """
    contested questions on which a price stood beside it
    """
    offered_questions: int
    """
    settled questions of its pool that were open while it was active
    """
    answered_share: float | None
    """
    share of those on which it has a forecast; null without any
    """
    population: int
    """
    entities of the same kind
    """
    methodology_version: str
    """
    The version of the method that computed the scores
    """
    release: int
    """
    The release that published this
    """
    as_of: str
    """
    The instant that the release describes, UTC
    """
    environment: Environment


class AgentAdvancedMetrics(TypedDict):
    agent_id: str
    """
    A UUID in lower case
    """
    resolved_questions: int
    """
    settled questions that were forecast
    """
    contested_questions: int
    """
    those of them on which it stood beside five others, or a price, in the judged part of their lives
    """
    skill_stability: float | None
    """
    share of the windows of 25 questions with a gain on the others’ average; null with fewer than 50 contested questions
    """
    conviction: float | None
    """
    0 is always one half, 1 is always certain
    """
    lean: float | None
    """
    mean distance from the others’ average: who leans one way through a season of shocks has a record of one bet
    """
    responsiveness: float | None
    """
    share of the mass moved that went toward the outcome; null if none was moved
    """
    updates: int
    """
    forecasts on a question after the first
    """
    methodology_version: str
    """
    The version of the method that computed the scores
    """
    release: int
    """
    The release that published this
    """
    as_of: str
    """
    The instant that the release describes, UTC
    """
    environment: Environment


class QuestionScore(TypedDict):
    question_id: str
    """
    A UUID in lower case
    """
    title: str | None
    """
    Null where the node that answers does not know the question
    """
    outcome: ScoredOutcome
    resolved_at: str
    """
    When the outcome became known, UTC
    """
    settled: bool
    """
    whether the question had closed by `as_of`; only then it counts in the numbers of an entity
    """
    settled_at: str | None
    """
    when the outcome was known and the question had closed; null until then
    """
    unit: str
    """
    what counts as one question: the event whose questions are told as one, or the question
    """
    cluster: str
    """
    what may hang together: the question’s event, or the question
    """
    week: str
    """
    the ISO week (UTC) in which the question closed
    """
    divisor: int
    """
    what the errors are divided by, because the questions of the unit count as one
    """
    joint: UnitJoint
    """
    how the questions of the unit depend on each other: `lone` for a question by itself, `ordered` thresholds, or `exclusive` options
    """
    unit_questions: int
    """
    how many questions of the unit are not annulled
    """
    coverage: float
    """
    share of the question’s scheduled time that was covered
    """
    brier: float
    """
    mean squared error over the time held
    """
    log_score: float
    """
    mean logarithmic score over the time held
    """
    baseline_score: float
    """
    score against a forecast that is always one half
    """
    peer_score: float
    """
    score against the other forecasts at the same times
    """
    judged_coverage: float
    """
    share of the question’s scheduled time that titles look at
    """
    judged_brier: int
    """
    B: the squared error over the judged time, in 1e-9
    """
    average_brier: int
    """
    K: that of the others’ average
    """
    median_brier: int
    """
    M: that of the median of the voices
    """
    market_brier: int
    """
    Q: that of the market’s price, of the average where none stood
    """
    judged_brier_if_other: int
    """
    B had the question ended otherwise
    """
    average_brier_if_other: int
    """
    K had the question ended otherwise
    """
    median_brier_if_other: int
    """
    M had the question ended otherwise
    """
    market_brier_if_other: int
    """
    Q had the question ended otherwise
    """
    voices: int
    """
    the most others that stood at a judged instant
    """
    forecasts: int
    """
    forecasts that stood before the effective close
    """
    closing_probability: float | None
    """
    the forecast that stood at the effective close; null if it was withdrawn
    """
    witnessed: bool
    """
    whether the service saw every forecast being made
    """
    contested: bool
    """
    whether it is settled and has a judged instant
    """
    priced: bool
    """
    whether a market’s price stood at a judged instant
    """
    gain: int | None
    """
    X: `average_brier` − `judged_brier`, in 1e-9; null where not contested
    """
    spread: int | None
    """
    f: how far `gain` would scatter had the question been able to end otherwise, in 1e-9
    """
    median_gain: int | None
    """
    X against `median_brier`
    """
    median_spread: int | None
    """
    f of `median_gain`
    """
    market_gain: int | None
    """
    X against `market_brier`
    """
    market_spread: int | None
    """
    f of `market_gain`
    """


class Checks(TypedDict):
    reads: Check
    """
    Whether the node can read its store
    """
    writes: Check
    """
    Whether it can write to its store
    """
    clock: Check
    """
    Whether its clock is within a minute of the store’s
    """
    questions: Check
    """
    Whether it has read the questions, as it must before it can take forecasts
    """
    release: Check
    """
    Whether the release that it serves is of the last 25 hours
    """


class QuestionEvent(TypedDict):
    event_id: str
    title: str | None
    """
    Null for an event of which only the id is known
    """
    kind: EventKind
    """
    What the outcomes of its questions imply about each other
    """
    position: int | None
    """
    Its place among the questions of its event
    """
    option: str | None
    """
    What it is called within its event
    """
    questions: int
    """
    How many questions the event has
    """


QuestionCorrectedEvent = TypedDict(
    'QuestionCorrectedEvent',
    {
        'type': Literal['question.corrected'],
        'at': str,
        'question_id': str,
        'title': str,
        'from': StatedOutcome,
        'to': StatedOutcome,
        'reason': str | None,
        'id': str,
    },
)


CertificationChangedEvent = TypedDict(
    'CertificationChangedEvent',
    {
        'type': Literal['certification.changed'],
        'at': str,
        'release': int,
        'entity_type': EntityType,
        'entity_id': str,
        'from': str | None,
        'to': str | None,
        'id': str,
    },
)


class AgentScores(TypedDict):
    agent_id: str
    """
    A UUID in lower case
    """
    scores: list[QuestionScore]
    """
    By when they are settled and then `question_id`, the newest first
    """
    next_cursor: str | None
    """
    The cursor of the next page of the same release; null on the last one
    """
    methodology_version: str
    """
    The version of the method that computed the scores
    """
    release: int
    """
    The release that published this
    """
    as_of: str
    """
    The instant that the release describes, UTC
    """
    environment: Environment


Problem = TypedDict(
    'Problem',
    {
        'type': ProblemType,
        'title': str,
        'status': int,
        'detail': str,
        'errors': NotRequired[list[Fault]],
        'violated-policies': NotRequired[list[str]],
        'checks': NotRequired[Checks],
    },
)


class ListedQuestion(TypedDict):
    question_id: str
    """
    A UUID in lower case
    """
    title: str
    category: str | None
    url: str | None
    """
    A page that explains the question
    """
    event_id: str | None
    """
    Questions that share one are about the same event or series
    """
    event: QuestionEvent | None
    """
    Null without an `event_id`
    """
    source: str | None
    """
    Who asked it first, such as another platform
    """
    source_id: str | None
    """
    Its id there; no two questions have the same `source` and `source_id`
    """
    opened_at: str
    """
    Forecasts are accepted from this instant on, UTC
    """
    closes_at: str
    """
    Forecasts are accepted before this instant, UTC
    """
    status: QuestionStatus
    outcome: QuestionOutcome | None
    """
    Null until it is resolved, and again where its resolution was withdrawn
    """
    resolved_at: str | None
    known_at: str | None
    """
    The earliest time at which the outcome was public, if the operator says so
    """
    updated_at: str
    """
    When something was last said of the question or of its outcome, UTC
    """
    resolution_criteria: NotRequired[str | None]
    """
    How the outcome is decided, in up to 20,000 characters of many lines
    """
    background: NotRequired[str | None]
    """
    What is known about it, in up to 20,000 characters of many lines
    """


class RefusedForecast(TypedDict):
    status: Literal['refused']
    question_id: str
    """
    A UUID in lower case
    """
    problem: Problem


FeedEvent: TypeAlias = (
    QuestionOpenedEvent
    | QuestionChangedEvent
    | QuestionRemovedEvent
    | QuestionClosedEvent
    | QuestionResolvedEvent
    | QuestionCorrectedEvent
    | ReleasePublishedEvent
    | CertificationChangedEvent
)


class QuestionPage(TypedDict):
    questions: list[ListedQuestion]
    next_cursor: str | None
    """
    The cursor of the next page, also where this one is short or empty; null on the last one
    """


Results: TypeAlias = AcceptedForecast | RefusedForecast


class ForecastResults(TypedDict):
    results: list[Results]
    """
    One for each forecast, in their order
    """


class FeedPage(TypedDict):
    events: list[FeedEvent]
    """
    In order
    """
    next: str
    """
    `after` of the next call, for ever
    """
