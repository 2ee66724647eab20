"""English words that posts on any subject use: not function words, and yet no keyword tells a subject by them.

Made for this project. Policies hold them back from lists; a user who types one as a keyword gets it.
"""

from __future__ import annotations

_WORDS = """
    time times day days today tonight tomorrow yesterday week weeks weekend month months year years hour hours
    minute minutes night morning evening moment moments now people person guy guys man men woman women kid kids
    child children friend friends family families everyone everybody anyone anybody someone somebody nobody girl
    girls boy boys folks thing things stuff something anything everything nothing way ways lot lots bit kind
    part parts place places point points case fact idea ideas reason reasons problem problems question questions
    answer answers story stories news life lives world home house work works job name names word words number
    numbers side end start line list set new old good great best better bad worst nice big small little long
    short high low first last next right left real true sure free full whole hard easy happy sad funny cool
    awesome amazing beautiful favorite favourite different important possible get got make makes made take took
    go going gone went come came see saw seen look looks looking watch know knew known think thought want wanted
    need needs needed use used using find found give gave tell told say said says ask asked feel felt try tried
    trying help keep kept let call called show shows read reading play love loved like liked hate thank thanks
    please hello hey welcome congrats congratulations advice opinion thoughts photo photos picture pictures pic
    pics video videos post posts thread link title http https
"""

COMMON_WORDS = frozenset(_WORDS.split())
"""In small letters, as typed."""
