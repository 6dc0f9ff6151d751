"""Client of the Survey Response Export Service.

Example:
    >>> from survey_export import Client
    >>> client = Client()  # the address and the key are in the environment
    >>> frame = client.survey("Health & Habits").frame(layout="wide", value="label")
"""

from importlib.metadata import version

from ._client import Client, Survey
from ._digests import FORM_COLUMNS
from ._errors import (
    MirrorChangingError,
    MirrorError,
    NoResponsesError,
    ServiceError,
    SurveyExportError,
    TransferError,
)
from ._models import (
    Change,
    Changes,
    Choice,
    Day,
    Form,
    FormCount,
    FormVersion,
    Key,
    LeftOut,
    Question,
    Summary,
    SurveyInfo,
)
from ._records import PRIMARY_KEY, RESPONSE_COLUMNS

__all__ = [
    "FORM_COLUMNS",
    "PRIMARY_KEY",
    "RESPONSE_COLUMNS",
    "Change",
    "Changes",
    "Choice",
    "Client",
    "Day",
    "Form",
    "FormCount",
    "FormVersion",
    "Key",
    "LeftOut",
    "MirrorChangingError",
    "MirrorError",
    "NoResponsesError",
    "Question",
    "ServiceError",
    "Summary",
    "Survey",
    "SurveyExportError",
    "SurveyInfo",
    "TransferError",
]

__version__ = version("survey-export")
