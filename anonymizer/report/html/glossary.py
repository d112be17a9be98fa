"""The words of the page."""

from __future__ import annotations

GLOSSARY = {
    "attack": "What somebody does who has the release, and knows something about a person, to learn more. "
    "Its success is the share of targets for whom it works.",
    "Bayes vulnerability": "The chance that the best single guess about a random person is right. It is the "
    "number of groups divided by the number of records when the guess is who a record is.",
    "bound": "A number that no candidate is below, proven. Where the loss equals it, nothing better exists.",
    "gap": "How far the loss may be from the best there is, as a share of it.",
    "group": "Records with the same published quasi-identifiers, also called equivalence class. Nothing in "
    "the release tells its members apart by these.",
    "guess": "The baseline: what the same adversary reaches without the release. Only what exceeds it is "
    "learned from the release.",
    "hierarchy, level": "A tree of values from exact (level 0) to * (the top). A published node stands for "
    "all values below it.",
    "insensitive": "A column that is neither known outside nor harmful; it is released as it is.",
    "k-anonymity": "Every group has at least k records.",
    "l-diversity": "Every group has at least l different values of a sensitive attribute.",
    "loss": "Share of what could be hidden that is hidden, averaged over records and quasi-identifiers: 0 is "
    "the input, 1 is nothing left.",
    "quasi-identifier": "A column that somebody outside may know of a person, such as age or postal code.",
    "sensitive": "A column that would harm the person if somebody learned it.",
    "suppression": "Records or cells that are left out because no group could take them.",
}
