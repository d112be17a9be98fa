"""The privacy models by name."""

from __future__ import annotations

from anonymizer.plugins import Registry
from anonymizer.privacy.base import PrivacyModel

PRIVACY_MODELS: Registry[PrivacyModel] = Registry(
    "privacy model", PrivacyModel, "anonymizer.privacy", "anonymizer.privacy_models"
)
