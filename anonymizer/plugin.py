"""What authors of plug-ins need, from one place: a name here stays from version to version.

A plug-in is a class of one of these kinds, in a distribution of its own with an entry point, or in a room of
the package: see docs/howto/add-a-privacy-model.md, add-an-attack.md and add-a-search.md. Test suites for each
kind are in ``anonymizer.testing``.
"""

from anonymizer.attacks.attribute_disclosure import ClassDisclosure, DisclosureSettings, UnitCounts
from anonymizer.attacks.base import (
    ATTACKS,
    Attack,
    AttackResult,
    KnowledgeSettings,
    Named,
    UnitSettings,
    draw_sample,
    exact_sum,
)
from anonymizer.attacks.skewness import at_least, at_most
from anonymizer.attacks.tail import Ranking, exposing, exposing_certain
from anonymizer.data.duckdb.database import Database
from anonymizer.data.duckdb.relation import INPUT_FORMATS, DuckRelation, InputFormat
from anonymizer.data.source import FileSource, name_columns, open_content
from anonymizer.errors import DataError, InputError, Interrupted, PlugInFault
from anonymizer.hierarchy.source import HIERARCHY_SOURCES, HierarchySource, tree_of_rows
from anonymizer.loss.base import LOSS_METRICS, CellMetric, LossMetric
from anonymizer.model.adversary import AdversaryView, Links, Original, ValueCoverage
from anonymizer.model.arrays import BoolArray, FloatArray, IntArray
from anonymizer.model.classes import ClassView, Reference, SensitiveCounts, released
from anonymizer.model.features import Feature, Limit
from anonymizer.model.labels import Form
from anonymizer.model.recoding import FullDomainRecoding, Outcome, Status, Step
from anonymizer.model.table import SensitiveAttribute, ValueType
from anonymizer.plugins import Exact, Settings, Threat, WholeNumber
from anonymizer.privacy.base import (
    PRIVACY_MODELS,
    ClassModel,
    CountConditions,
    Distinct,
    Merging,
    ReleaseRisk,
    RiskSettings,
    ScoredClassModel,
    TableModel,
    Threshold,
    largest_counts,
    resolve_near_ties,
)
from anonymizer.profile.column_statistics import ColumnFacts
from anonymizer.profile.detection import DETECTORS, MOSTLY, Detector, Finding, share
from anonymizer.search.base import SEARCH_ALGORITHMS, Control, SearchAlgorithm, SearchProblem
from anonymizer.search.judge import Judge, search_with_attack_checks
from anonymizer.search.rollup import RollUp
from anonymizer.utility.base import UTILITY_MEASURES, Measure, UtilityFinding

__all__ = [
    "ATTACKS",
    "DETECTORS",
    "HIERARCHY_SOURCES",
    "INPUT_FORMATS",
    "LOSS_METRICS",
    "MOSTLY",
    "PRIVACY_MODELS",
    "SEARCH_ALGORITHMS",
    "UTILITY_MEASURES",
    "AdversaryView",
    "Attack",
    "AttackResult",
    "BoolArray",
    "CellMetric",
    "ClassDisclosure",
    "ClassModel",
    "ClassView",
    "ColumnFacts",
    "Control",
    "CountConditions",
    "DataError",
    "Database",
    "Detector",
    "DisclosureSettings",
    "Distinct",
    "DuckRelation",
    "Exact",
    "Feature",
    "FileSource",
    "Finding",
    "FloatArray",
    "Form",
    "FullDomainRecoding",
    "HierarchySource",
    "InputError",
    "InputFormat",
    "IntArray",
    "Interrupted",
    "Judge",
    "KnowledgeSettings",
    "Limit",
    "Links",
    "LossMetric",
    "Measure",
    "Merging",
    "Named",
    "Original",
    "Outcome",
    "PlugInFault",
    "Ranking",
    "Reference",
    "ReleaseRisk",
    "RiskSettings",
    "RollUp",
    "ScoredClassModel",
    "SearchAlgorithm",
    "SearchProblem",
    "SensitiveAttribute",
    "SensitiveCounts",
    "Settings",
    "Status",
    "Step",
    "TableModel",
    "Threat",
    "Threshold",
    "UnitCounts",
    "UnitSettings",
    "UtilityFinding",
    "ValueCoverage",
    "ValueType",
    "WholeNumber",
    "at_least",
    "at_most",
    "draw_sample",
    "exact_sum",
    "exposing",
    "exposing_certain",
    "largest_counts",
    "name_columns",
    "open_content",
    "released",
    "resolve_near_ties",
    "search_with_attack_checks",
    "share",
    "tree_of_rows",
]
