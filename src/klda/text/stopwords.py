"""Function words, by language: words that carry grammar and no subject.

Made for this project and kept short on purpose: long public lists also hold words such as "world", "work", "home" or
"system", which are keywords to somebody.
"""

from __future__ import annotations

_LISTS = {
    "en": """
        a an the this that these those
        i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she
        her hers
        herself it its itself they them their theirs themselves who whom whose which what one's
        am is are was were be been being do does did doing done have has had having can could may might must
        shall should
        will would ought let's
        and or but nor so yet if then else than because since while until unless although though whereas whether
        as
        at by for from in into of off on onto out over to toward towards under up upon with within without about
        above
        across after against along among around before behind below beneath beside between beyond down during
        except
        inside near outside per through throughout till via
        not no none never neither either both each every any some all such same other others another own
        here there where when why how again also too very just only even still already ever once now
        much many more most few less least several enough quite rather
        i'm i've i'll i'd you're you've you'll you'd he's he'll he'd she's she'll she'd it's it'll it'd we're
        we've we'll
        we'd they're they've they'll they'd that's that'll there's here's who's what's where's how's
        isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't can't cannot couldn't won't
        wouldn't
        shouldn't mustn't mightn't needn't ain't shan't
        im ive id youre dont doesnt didnt isnt arent wasnt cant wont thats
        rt qt via amp etc e.g. i.e. a.m. p.m.
    """,
    "es": """
        el la los las un una unos unas lo al del este esta esto estos estas ese esa eso esos esas aquel aquella
        yo tú tu él ella ello nosotros nosotras vosotros vosotras ellos ellas usted ustedes me te se nos os le
        les mi mis
        tus su sus nuestro nuestra nuestros nuestras vuestro vuestra mí ti sí
        y e o u ni pero sino aunque porque pues si como cuando donde mientras que quien quienes cual cuales cuyo
        cuya
        qué quién cuál cómo cuándo dónde cuánto
        a ante bajo con contra de desde durante en entre hacia hasta para por según sin sobre tras
        no ya muy más menos tan tanto también tampoco solo sólo aún todavía siempre nunca aquí ahí allí
        todo toda todos todas otro otra otros otras mismo misma algo alguien alguno alguna nada nadie ninguno
        ninguna cada
        ser es soy eres somos son era eran fue fueron sido siendo sea sean está están estoy estamos estaba
        estaban
        he has ha hemos han había habían haber hay hubo
    """,
    "fr": """
        le la les l un une des du de d au aux ce cet cette ces
        je j tu il elle on nous vous ils elles me m te t se s lui leur eux moi toi soi y en
        mon ma mes ton ta tes son sa ses notre nos votre vos leurs
        et ou où mais donc or ni car si que qu qui quoi dont lequel laquelle lesquels lesquelles quand comme
        comment pourquoi
        à dans par pour sur sous avec sans entre vers chez contre depuis pendant avant après jusque jusqu dès
        ne n pas plus moins très trop peu aussi encore déjà toujours jamais ici là alors puis
        tout toute tous toutes autre autres même mêmes quelque quelques chaque aucun aucune rien personne
        être est suis es sommes êtes sont était étaient été étant sera seront soit avoir ai as a avons avez ont
        avait
        avaient eu fait c'est qu'il qu'elle qu'on n'est d'un d'une l'on j'ai
    """,
    "de": """
        der die das den dem des ein eine einen einem einer eines dieser diese dieses diesen diesem jener jene
        jenes
        ich du er sie es wir ihr mich mir dich dir ihn ihm ihnen uns euch sich man
        mein meine meinen dein deine sein seine seinen seiner ihre ihren ihrer unser unsere euer eure
        und oder aber denn sondern doch wenn weil dass ob als wie während obwohl damit
        wer was wo wann warum welche welcher welches wen wem
        in im an am auf aus bei beim mit nach von vom vor zu zum zur über unter durch für gegen ohne um bis seit
        zwischen
        hinter neben
        nicht kein keine keinen nein ja nur noch schon auch sehr mehr so dann da hier dort nun jetzt immer nie
        wieder mal
        alle alles allem allen jeder jede jedes andere anderen viel viele einige etwas nichts selbst
        sein bin bist ist sind seid war waren gewesen haben habe hast hat hatte hatten werden werde wird wurde
        wurden worden
        kann können konnte muss müssen soll sollen will wollen darf
    """,
    "it": """
        il lo la i gli le l un uno una del dello della dei degli delle al allo alla ai agli alle dal dalla dai
        nel nella nei
        nelle sul sulla sui questo questa questi queste quello quella quelli quelle
        io tu lui lei noi voi loro mi ti si ci vi me te se ne li
        mio mia miei mie tuo tua suo sua suoi sue nostro nostra vostro vostra
        e ed o ma però anche se che chi cui quale quali quando dove come perché mentre né
        di a da in con su per tra fra senza contro verso dopo prima
        non più meno molto molti molta tanto troppo già ancora sempre mai qui lì solo così poi
        tutto tutta tutti tutte altro altra altri altre stesso stessa ogni qualche alcuni alcune nulla niente
        essere è sono sei siamo siete era erano stato stata stati avere ho hai ha abbiamo avete hanno aveva
        avevano fa c'è
    """,
    "pt": """
        o a os as um uma uns umas do da dos das no na nos nas ao aos à às pelo pela pelos pelas num numa
        este esta isto estes estas esse essa isso esses essas aquele aquela aquilo
        eu tu ele ela nós vós eles elas você vocês me te se lhe lhes mim ti si
        meu minha meus minhas teu tua seu sua seus suas nosso nossa nossos nossas
        e ou mas porém porque pois que quem qual quais quando onde como enquanto embora nem
        de em com por para sem sob sobre entre até desde contra após ante
        não sim já mais menos muito muita muitos muitas tão também só ainda sempre nunca aqui ali lá
        todo toda todos todas outro outra outros outras mesmo mesma algum alguma nada ninguém nenhum nenhuma
        cada
        ser é sou somos são era eram foi foram sido estar está estão estava estavam ter tem têm tinha tinham há
        houve pra
    """,
    "nl": """
        de het een deze dit die dat
        ik jij je hij zij ze wij we jullie u hem haar hen hun mij me ons zich men
        mijn jouw zijn onze uw
        en of maar want dus als dan toen omdat terwijl hoewel wie wat waar wanneer waarom hoe welke
        in op aan van voor met bij naar uit over onder door om te tot tegen tussen zonder na sinds af
        niet geen nee ja er hier daar nu nog al ook zeer heel meer minder veel zo wel weer altijd nooit maar
        alle alles elk elke iedere ander andere anderen zelf iets niets iemand niemand
        ben bent is was waren geweest heb hebt heeft hebben had hadden word wordt worden werd werden zal zullen
        zou zouden kan
        kunnen kon moet moeten wil willen mag
    """,
}

STOP_WORDS: dict[str, frozenset[str]] = {language: frozenset(words.split()) for language, words in _LISTS.items()}
"""Function words by two-letter language code; a language without a list drops none."""


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
