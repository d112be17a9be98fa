"""The privacy models by name."""

from __future__ import annotations

from anonymizer.privacy.base import PrivacyModel
from anonymizer.registry import Registry

PRIVACY_MODELS: Registry[PrivacyModel] = Registry(
    "privacy model", PrivacyModel, "anonymizer.privacy", "anonymizer.privacy_models"
)
