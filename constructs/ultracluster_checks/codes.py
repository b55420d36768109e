"""Codes of rules that several modules state, each for the resources that it knows."""

from typing import Final

ONE_SUBNET: Final = "UC3204"
TOKENS: Final = "UC4207"
TYPE_OF_TEMPLATE: Final = "UC4215"
RETAINED: Final = "UC5201"
LUSTRE_PORTS_OPEN: Final = "UC5203"
ENCRYPTION: Final = "UC5204"
KEPT_IN_S3: Final = "UC5209"
ROOM: Final = "UC6407"
EVERY_ACTION: Final = "UC6420"
IN_TIME: Final = "UC6431"
EVENTS: Final = "UC6432"
RUNNING: Final = "UC6433"
CALLING: Final = "UC6436"
BOUNDS: Final = "UC6458"
BILLED: Final = "UC6483"
