"""Given names and family names that are common where Latin letters are written."""

_GIVEN = """
aaron adam adrian agnes ahmed aisha alan albert alejandro alessandro alex alexander alexandra alexis ali
alice alicia alina amanda amelia amina amy ana anastasia andre andrea andreas andrew andrzej angela anita
anja ann anna anne annette anthony antoine antonio anton arjun arthur ashley astrid ava barbara beatrice
beatriz ben benjamin bernard bernd betty bianca birgit bjorn bob boris brandon brenda brian britta bruce
bruno camila camille carl carla carlos carmen carol carolina caroline catherine cecilia chantal charles
charlotte cheryl chloe chris christian christina christine christopher claire clara claudia claus cleo
cynthia dan daniel daniela daria david deborah denise dennis diana diego dieter dimitri dirk dominik
donald donna dorothy douglas edith edward elena eleonora elias elif elisa elisabeth elizabeth ella ellen
elsa emil emilia emily emma enrico eric erik erika ernst esther ethan eugene eva eve evelyn fabian fatima
felix fernanda fernando filip finn florian frances francesca francesco francis francisco francois frank
franz fred frederic frida friedrich gabriel gabriela gary gavin geoffrey georg george gerald gerd gerhard
gertrud gianni gina giovanni giulia giuseppe gloria grace greta gregory guido guillaume gunter gustav
hamza hannah hans harald harold harry hassan heather heidi heike heinz helen helena helga helmut henri
henry herbert hermann hugo ian ibrahim ida igor ines inga inge ingrid irene irina isabel isabella isla
ivan jack jacob jacqueline jakob james jan jana jane janet janice jasmine jason javier jean jeffrey
jennifer jeremy jerry jessica jesus jim joan joanna joao joaquin joe johan johann johanna johannes john
jonas jonathan jorge jose josef joseph joshua joyce juan judith judy julia julian juliana julie jurgen
justin kai karen karin karl karolina katarina katharina katherine kathleen kathryn katja keith kelly ken
kenneth kevin kim kimberly kirsten klaus konrad krzysztof kurt kyle lara lars laura lauren lea leah lena
leo leon leonardo leonie liam lidia lina linda lisa logan lorenzo louis louise luca lucas lucia lucy ludwig
luis luisa luka lukas luke lydia madison magdalena maja malik manfred manuel manuela marc marcel marco
marcos marcus margaret margarita maria mariana marie marina mario marion mark marko markus marta martha
martin martina mary mason mateo mathieu matteo matthew matthias maurice max maximilian megan mehmet mei
melissa mia michael michal michel michelle miguel mike mila milan mina mira miriam mohamed mohammed
monica monika muhammad mustafa nadia nancy natalia natalie natasha nathan nicholas nicola nicolas nicole
niklas nikola nils nina noah nora norbert oleg olga oliver olivia omar oscar oskar otto pablo paola paolo
pascal patricia patrick paul paula paulo pavel pedro peter petra philip philipp philippe pia pierre piotr
rachel rafael rahul ralf ralph ramon raphael raul raymond rebecca regina renate rene ricardo richard rita
robert roberto robin roger roland rolf roman ron ronald rosa rose roy rudolf russell ruth ryan sabine
sabrina salma sam samantha samuel sandra sandro sara sarah sascha scott sean sebastian sergei sergio
sharon shirley silke silvia simon simone sofia sofie sonia sophia sophie stefan stefanie stephan stephanie
stephen steve steven sue susan susanne sven svetlana sylvia tamara tanja tanya tatiana teresa theo theresa
thomas tim timothy tina tobias tom tomas toni tony tyler ulrich ulrike ursula ute uwe valentina valeria
vera veronica victor victoria viktor vincent viola virginia vladimir walter wei wendy werner wilhelm
will william wolfgang xavier yasmin yolanda youssef yuki yusuf yvonne zoe
"""

_FAMILY = """
adams allen anderson andersson bailey baker bauer becker bell bernard brown campbell carter chen clark
collins cook cooper costa cruz davis diaz dubois durand edwards evans fernandez ferrari fischer flores
garcia gomez gonzalez green gupta hall hansen harris hernandez hill hoffmann howard hughes ivanov jackson
jansen janssen jensen johansson johnson jones keller khan kim king klein koch kowalski kumar larsen lee
lefebvre lewis li lopez martin martinez meyer miller mitchell moore moreau morgan morris murphy mueller
muller nelson neumann nguyen nielsen nowak novak olsen ortiz parker patel perez peters peterson petrov
phillips pham ramirez ramos reed reyes richter rivera roberts robinson rodriguez rogers rossi russo
sanchez santos schaefer schmidt schneider schroeder schulz schwarz scott silva singh smirnov smith
stewart suzuki tanaka taylor thomas thompson torres tran turner wagner walker wang ward watson weber
white williams wilson wolf wood wright yang young zhang zimmermann
"""

GIVEN_NAMES = frozenset(_GIVEN.split())
FAMILY_NAMES = frozenset(_FAMILY.split())
