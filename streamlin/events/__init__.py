"""The types that everything else uses: records, events, batches, labels; and the interfaces of sources and sinks.

A source hands over `Records`, a format makes a `Batch` of them, and both hold columns: no object is made for a single
event on the way through the pipeline. `Event` is for people and tests.
"""

from streamlin.events.batch import MAX_WEIGHT as MAX_WEIGHT
from streamlin.events.batch import Batch as Batch
from streamlin.events.batch import DeadLetter as DeadLetter
from streamlin.events.batch import Event as Event
from streamlin.events.columns import CodedTexts as CodedTexts
from streamlin.events.columns import Distinct as Distinct
from streamlin.events.columns import Templates as Templates
from streamlin.events.columns import TokenColumns as TokenColumns
from streamlin.events.columns import taken as taken
from streamlin.events.labels import LabelIndex as LabelIndex
from streamlin.events.records import BOM as BOM
from streamlin.events.records import Position as Position
from streamlin.events.records import Records as Records
from streamlin.events.records import behind_marks as behind_marks
from streamlin.events.records import single_records as single_records
from streamlin.events.sink import MessageSink as MessageSink
from streamlin.events.sink import Sink as Sink
from streamlin.events.sink import SinkContext as SinkContext
from streamlin.events.source import FEW as FEW
from streamlin.events.source import Framing as Framing
from streamlin.events.source import ReadBytes as ReadBytes
from streamlin.events.source import Share as Share
from streamlin.events.source import Source as Source
from streamlin.events.source import SourceContext as SourceContext
