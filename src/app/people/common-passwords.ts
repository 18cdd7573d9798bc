/**
 * Easily guessed: common passwords of at least 12 characters, and the 3,000 most common shorter ones, which people
 * lengthen by a year or an exclamation mark. From @zxcvbn-ts/language-common 4.1.3 (MIT).
 */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `
010203040506 012345678910 014702580369 01telemike01 050605rostik 102030405060 1111111111zz 111222333000
111222333444555 112233445566 122333444455555 123123qweqwe 123321123321 123321456654 123321qweewq 123456654321
12345677654321 123456782000 1234567887654321 123456789000 12345678900987654321 123456789012 1234567890987654321
1234567890qaz 1234567890qw 1234567890qwe 1234567890qwerty 1234567890zzz 123456789101 123456789123 1234567892000
12345678987654321 123456789987654321 123456789aaa 123456789abc 123456789asd 123456789qaz 123456789qqq 123456789qwe
123456789qwer 123456789qwerty 123456789zxc 1234567qwertyu 123456qwerty 123456zxcvbn 1234qwerasdf 1234qwerasdfzxcv
123ewqasdcxz 123qwe123qwe 123qwe456rty 123qweasdzxc 123qwerty123 12qw34er56ty 159753159753 159753456852 193570356033
19960610ilja 1a2a3a4a5a6a 1a2s3d4f5g6h 1q2w3e4r5t6y 1qa2ws3ed4rf 1qa2ws3ed4rf5tg 1qaz2wsx3edc 1qaz2wsx3edc4rfv
1qazxsw23edc 1qazxsw23edcvfr4 23176djivanfros 23wkoa0fp78dk 31217221027711 32615948worms 41d8cd98f00b 420842084208555
4815162342lf 4815162342lost 541233432442 59382113kevinp 6215mila6215 742617000027 89063032220m 89231243658s
89876065093rax 89semtsriuty a1s2d3f4g5h6 aardvark aaron abc123456789 aberdeen abgrtyu abigail abraham absolut access
accord account achilles action active adgjmptw adidas admin admin18533362 administrator admiral adrian adriana adult
aezakmi africa agent aggies aikido airborne airbus airforce airplane aksjdlasdakj89879 alabama alaska albatros albert
alberto albion alejandr aleksandr alexande alexander alexandr alexandra alexis alfred alibaba alice alicia alien
aliens alison allen alliance allison allsop alpha alpha135792468 alpine alucard always alyssa amadeus amadeusptfcor
amanda amateur amazon amber amelia america american amsterda amsterdam an83546921an13 anaconda anakin analsex anarchy
anastasia anders anderson andre andrea andreas andrei andres andrew andrewjackie andrey anfield angel angela angelica
angelina angelo angels angie anhyeuem animal animals anime annette annie antananarivu anthony anton antonio anubis
anything anytimetoday apache apollo apple applepie apples april aquarius aragorn archer archie arizona arjay armani
arnold arsenal artemis arthur artist asd123asd123 asdasd asdfasdf asdfg asdfgh asdfgh123456 asdfghj asdfghjk asdfghjkl
asdfghjkl123 asdfjkl asdzxc ashley ashton asian aspire aspirine assass assassin assfuck asshole assman asterix astrid
astros athena atlanta atlantic atlantis atomic attack auburn auckland2010 audrey august aurora aussie austin australi
australia autumn avalon avatar avenger avrillavigne awesome azamat azerty azsxdc azsxdcfv babes babies babyboy
babydoll babygirl babylon backdoor bacon badass badboy baddog badger badiman28200 baggins bailey baller balloon balls
bambam banana bananas bandit bangbang bangkok banker banshee barbara barbie barcelon barcelona barkley barney barry
barsik baseball basket basketba basketball bassman bastard batman battle baxter beach beagle beaner beanie bearbear
bears beast beatles beatrice beautiful beauty beaver beavis beckham becky beefcake beetle believe belinda bella belle
bender benjamin bennett benson bentley berlin bernard bernie bertha bethany better betty beverly bhrh0h2oof6xbqjeh
bianca bicycle bigballs bigbear bigbird bigboobs bigboy bigcock bigdaddy bigdick bigdog bigfoot bigger biggie bigguy
bigmac bigman bigmoney bigone bigred bigsexy bigtime bigtits bikini billie billy billybob billyboy bingo birdie
birdman birthday biscuit bishop bitch bitches biteme bizkit blabla black blackcat blackdog blackhaw blackie blackjac
blackman blacks blacksonblon blacky blade blades blahblah blake blaster blazer blessed blink blizzard blonde blondes
blondie blood bloody blowjob blowme bltynbabrfwbz bluebird blueblue blueboy blueeyes bluemoon blues bluesky bobafett
bobbie bobbob bobby bobcat boeing bogart bogdan bohica bollocks bollox bomber bondage bonehead boner bones bonita
bonjour bonnie bonsai boobies booboo boobs booger boogie boomer bootie boots booty boris bosco bossman boston bottom
bowler bowling bowser boxing boy4u2ownnyc bpgjldsgjldthnf bradford bradley brandi brando brandon brandy brasil braves
brazil breast breeze brenda brendan brian brianna bridge bridget brighton bristol britney brittany broadway broken
bronco broncos brooke brooklyn brooks brother brothers brown brownie browns bruce brucelee bruins bruno brutus bryan
bryant bubba bubbas bubble bubbles buckeye buckeyes buddha buddy budlight budman budweise buffalo buffett buffy bugger
bulldog bulldogs bullet bullnuts2003 bullseye bullshit bunghole bunny burger burton business businessbabe buster butch
butler butter butterfl butterfly butthead butthole buttman button buttons byteme cabbage cactus cadillac caesar
caitlin calico caliente californ california caligula callie calvin camaro camel camelot camels camera cameron camilla
camille campbell canada cancel cancer cancun candle candy candyman cannon canon cantona capital capone captain caramel
cardinal carlo carlos carlton carmen carol carole carolina caroline carolyn carpet carrera carrie carrot carson carter
cartman cartoon caserta casey casino casper cassidy cassie castle catalina catch catdog catfish catherin catherine
catman cavalier caveman ccbill cdtnkfyf cecilia celeste celica celine celtic celtics center central cessna chainsaw
chair champion champs chance chandler chanel chang change changeme chaos charger chargers charles charley charli
charlie charlott charlotte charlton charly charmed chase chaser check cheers cheese cheeseburger cheetah chelsea
chemical cheng cherokee cherry cheryl chester chesterfield chevelle chevrole chevy chewie cheyenne chicago chichi
chicken chickens chickenwing101 chicks chico chief chiefs children china chipper chivas chloe chocolat chocolate
chopper chris chrisbln chrissy christ christia christian christin christina christine christop christopher
christopher1 christy chronic chubby chuck chucky church cigars cinder cindy cinnamon civilization cjdthitycndj
cjkysirj cjkywt claire clancy clapton clarence classic claude claudia clayton clemson clifford clinton clipper
clitoris cloud clover cnfc35762209 cobra cocacola cocks coconut coffee cohiba coleman colleen college collins colombia
colorado colors coltrane columbia columbus combat123654 comics command commando compaq computer concrete condom condor
configuratio connect conner connie connor conrad construction consumer content contortionist control cookie cookies
cooldude cooler coolio coolman cooper cooter copper corona corperfmonsy corrado corvette cosmo cosmopolitan cosmos
cosworth cotton cougar counterstrike country courtney cowboy cowboys coyote cracker crash crawford crazy crazybab
cream creampie creamy creative credit cricket crimson cristina critter cruise cruiser crunch crusader crysis crystal
cthulhu cthutq cuddles cumming cumshot cunts cupcake curious curtis cutlass cutter cxfcnmt cyclone cyclops cynthia
daddy dagger daisy dakota dallas dalton damage damian damien dammit damnit dance dancer danger danie daniel daniela
danielle daniil danila danni danny dannyboy darkness darkside darkstar darling darren darwin david davids davidson
davis dawson daytona dbrnjhbz deacon deadhead deadman deanna death debbie deborah december deedee deepthroat deeznuts
defender defiant deftones delete delta demon denali denis denise deniska dennis denver depeche derrick desert design
designer desire deskjet destiny detroit devil devildog devilmaycry4 devils dexter dfkthbz dfkthf dfktynbyf dfvgbh
diablo diamond diamonds diana dickhead dicks diesel dietcoke digger digital digitalprodu dilbert dildo dilligaf dillon
dinamo dingdong dinosaur direct director dirty discover disney divine dixie dkflbckfd dkflbvbh dkflbvbhjdbx
dkflbvbhjdyf doberman doctor dodge dodger dodgeram dodgers doggie doggy dogman dollar dolphin dolphins domainlock2005
dominic domino donald donkey donna donnie doobie doodle dookie dorothy double doughboy douglas dracula drago dragon
dragons dragoon drake dream dreamer dreams driver drizzt drowssap drpepper drummer dthjybrf dublin ducati duchess
dudley dumbass duncan durango duster dustin dusty dylan eagle eagles eatme eatpussy eatshit eclipse eddie eduard
edward edwardcullen eeyore eileen einstein ekaterina elaine electric element elena elephant eleven elijah elizabet
elizabeth elliot elliott elvira elvis elwood emerald emerson emily eminem emmanuel empire energy engage engine
engineer england english enigma enjoy enter enterpri enterprise entertainment ericsson ernest erotic escape escort
esther eternity eugene evelyn everest everton excalibu exigen exigent exodus explorer express extreme fabian fabie
facial faggot faith falcon falcons fallen fallout family fantasy farmer farside fashion faster fatass fatboy fatcat
father fatima fatima753357 fatman feather february felicia felix fender fernand fernando ferrari ferret fetish ficken
fiesta figaro fighter filter finalfantasy findaupair007 finger fingers finish fireball firebird firefly firefox
fireman first fisher fishes fishing fitness fkmnthyfnbdf fktrcfylh fktrcfylhf fktrcfylhjdbx fktrcfylhjdf fktrcfylhjdyf
fktrctq flames flamingo flash flatron fletch fletcher flight flipper floppy florence florian florida flower flowers
fluffy flvbybcnhfnjh flyboy flyers flying foobar football fordf forest forever foreveryoung forfun forget forgot
formula forrest fortuna fortune fossil foster fowler foxtrot france frances francis franco francois frank frankie
franklin franky freak freaks freaky freckles freddie freddy frederic frederiksberg fredfred freedom freeman freepass
freeporn freeuser french friday friend friends fright frisco fritz frogger froggy front frontier frosty frozen fubar
fucked fucker fuckers fuckface fuckfuck fuckher fuckin fucking fuckit fuckme fuckoff fucktheworld fuckthis fuckyou
fuckyoubitch fugazi function funny funtime fusion future fyfcnfcbz fylhtq fynfyfyfhbde gabrie gabriel galaxy galina
galore gambit gandalf gangbang gangsta gangster garage garbage garcia garden garfield garrett gateway gator gators
gbpltw geheim gemini general genesis genius george georgia gerald gerard german germany geronimo getmoney getsome
gfhfktkjuhfv gfhjkm gfhjkmgfhjkm ghbdtn ghbdtnbr ghbdtnghbdtn ghbdtnrfrltkf ghetto ghhh47hj7649 ghjatccbjyfk ghjcnj
ghjcnjgbpltw ghjcnjgfhjkm ghjcnjghjcnj ghjcnjqgfhjkm ghjcnjrdfibyj ghjnbdjcnjzybt ghost ghtdtlvtldtl giant giants
gibson gilbert gillian ginger giorgi giovanni girls giuseppe gizmo gizmodo gjkbyf gjkysqgbpltw global gloria gmoney
goalie goblin goblue goddess godsmack godzilla gofish goforit goldberg golden goldfish goldie golfball golfer golfing
goliath gonzo goober goodbye goodluck goodtime google goose gopher gordon gorilla gotcha gothic gotohell govols grace
gracie graham grandma granny grapes grateful great greatone green greenbay greenday greenlantern greens gregory
gremlin grendel gretchen griffey griffin gringo grizzly groovy grover grumpy gthtrfnbgjkt gtnhjpfdjlcr guardian guest
guiness guinness guitar gundam gunner gunners gustav hacker hailey halflife hallo hamburg hamilton hamlet hammer
hammers hamster handsome hannah hannibal hansen hansolo happy happyday hardcore harder hardon hardrock harley harmony
harold harper harris harrison harry harvey hastings hawaii hawkeye hayden hayley hd764nw5d7e1vb1 hd764nw5d7e1vbv heart
hearts heather heaven hector hedgehog hedimaptfcor heidi helen helena hellfire hello helloo hellyeah helpme hendrix
henry hentai herbert herbie hercules herman hermes hershey hesoyam hidden highland hilton hiphop history hithere
hitler hitman hjvfirf hobbes hobbit hockey holden holiday holland holly hollywoo hollywood holmes holyshit homer
homers homerun honda honey hongkong hooker hooter hooters hoover hopper horizon horndog hornet horney horny horse
horses hotboy hotdog hotrod hotsex hotshot hotstuff hottie house houses houston howard hudson hummer hungry hunter
hunting hurrican husker huskers huskies hustler hyperion iampurehaha2 ibanez icecream iceman iforgot iguana ihateyou
illini iloveboobies ilovemyfamily ilovesex iloveu iloveyo iloveyou imagine immortal impala imperial incubus indian
indiana indians indigo infantry inferno infiniti infinity ingodwetrust ingrid insane inside installdevic installsqlst
integra intelligence international internet intrepid ipo54tj45uy856 ireland irina irish ironman isabel isabella
isabelle isaiah iseedeadpeople island israel italia ivanov ivanova iverson iwantu jackal jackass jackie jackoff
jackson jacob jaguar jamaica james jamesbon jamesbond jamesbond007 jamie jammer janice janine january japan japanese
jarhead jasmin jasmine jason jasper javier jayhawk jazzman jeanette jeffrey jenna jennie jennifer jenny jensen
jeremiah jeremy jericho jerkoff jerome jerry jersey jesse jessica jessie jester jesus jethro jimbo jimbob jimmy joanna
joanne joejoe johanna johnjohn johnny johnson joker jokers jonathan jones jordan joseph josephphone7 joshua jrcfyf
judith juggalo juice julia julian julie juliet julius jumper junebug jungle junior jupiter justdoit justice justin
justinbieber justine justme juventus kaiser kaktus kamikaze kangaroo kansas karate karen karina karolina kasper katana
katerina kathleen kathryn kathy katie katrin katrina kawasaki keeper keith kelley kelly kelsey kendall kennedy kenneth
kenny kenshin kentucky kenwood kenworth kermit kevin keyboard keystone keywest kickass kicker killbill killer killme
kimber kimberly kingdom kingfish kingkong kingpin kingston kinky kipper kirill kirsten kisses kissme kitkat kitten
kitty kittycat klaster klingon knicks knight knights knopka kodiak kolobok koshka kostya kotenok kramer krishna krista
kristen kristi kristin kristina kristine kristy ktjynsq40147 ktyjxrf kungfu labrador labtec lacrosse ladies ladybug
laguna lakers lancelot lancer lansing laptop larisa larry lasvegas latin latino laura lauren laurie lawrence lawyer
leader leather leavemealone ledzep legacy legend legion legolas lemons lennon leonard leonardo leopard lesbian
lesbians leslie lespaul lestat lester letmein letsgo lewis lexmark lhbjkjubz2957704 liberty licker lickit lickme
lifehack lifetime light lightnin lights lillian lincoln linda lindsay lindsey lineage lionking liquid lisalisa little
liverpoo liverpool lizard lizzie lobster logan logitech lolipop lolita lollipop lollol london lonely lonestar lonewolf
longhorn looker looking looser lorenzo lorraine loser lost4815162342 louis louise loulou love777321777 loveit lovelove
lovely loveme lover loverboy lovers loveyou loving lowrider lucas lucifer lucky luckydog ludwig luther lvbnhbq
lytdybrbdfvgbhf lytghjgtnhjdcr macdaddy machine macross madden maddie maddog madeline madison madman madmax madness
madonna madrid maestro maggie magic magick magicman magnolia magnum magnus maiden mailcreated mailcreated5240 mailman
majestic makaveli maksim malaka malcolm malibu malina mallard mamapapa manager manchest manchester mandingo mandy
maniac manson manuel manutd maprchem56458 maradona marathon marcel marco marcos marcus margaret margarita maria mariah
marian marianne marie marilyn marina marinamarina marine mariners marines marino mario marion marisa marissa market
markus marlboro marlene marley marlin marshall martha martin martina martinez martini marvel marvin maryjane maryland
mason massimiliano massive master masterbaiting masterbating masters masturbation matador mathew matilda matrix
matthew mattie mature maureen maurice maurolarastefy maverick maxell maxima maximus maxine maxmax maxwell mayday
mayhem maynard meatball meatloaf mechanic megadeth megaman megan megapass meghan melanie melinda melissa mellon melody
melvin member memorex memory memphis mercedes mercury meredith meridian merlin mersedes metal metallic metallica
method mevefalkcakk mexico miami michael michaela michaeljackson michel michele michelle michigan mickey microlab
microsof microsoft midget midnight mighty miguel mikemike mikey milana milano milena miles military miller millie
million milton minecraft minecraft123 minime minnesota_hp minnie miracle mirage miranda miriam misfit mission missy
mister mistress misty mitchell mobile models mollie molly moloko molson momoney momsanaladventure monaco monday money
moneys mongoose monica monika monique monitor monkey monkeys monopoly monroe monster montana montreal monty moocow
mookie moomoo moose morgan morganstanley morpheus morris morrison mortalkombat moscow mother motherfucker motorola
mountain mouse movie movies mozart msoracle32re msorcloledbr muffin mulder munchkin muppet murder murphy murray muscle
mushroom music musicman mustang mustangs mylove mypass myself mystery mystic nadine naked nancy napass napoleon naruto
nascar nasty nastya nastyanastya natali natalia natalie natasha nathalie nathan national natural nature naughty
ne_e_pod_chehyl nebraska necronomicon needforspeed nellie nelson nemesis nemvxyheqdd5oqxyxyzi neptune network
networkingpe nevada newlife newman newpass newport newproject2004 newton newyork nfnmzyf nguyen nhbujyjvtnhbz
nhecsyfujkjdt nhfdvfnjkju123 nhfycajhvths nicholas nick1234-rem936 nicola nicolas nicole nigger night nightcrawler
nikita nikki nikola nimrod niners ninja nintendo nipple nipples nirvana nissan nobody nofear nokia nolimit
nondriversig noodle noodles nookie nopass norman norton nothing november ntktdbpjh1994 nudist nugget number
nuttertools nyjets nylons nymets oakland oakley obiwan oblivion october odessa office ohyeah oilers oklahoma oksana
olcrackmaster oldman oliver olivia omega onelove online onlyme ontheoutside openup operator oracle orange oranges
oregon orgasm orioles orion orlando oscar osiris outlaw overlord oxford pacific packard packer packers pacman painter
pakistan palace paladin palmer pamela panama panasonic pancho panda pandora pantera panther panthers panties pantyhos
panzer paradise paradox paraklast1974 paris parker parola parrot party pascal passat passion passpass passport passwor
password password1234 passwordassword passwordpassword passwords passwordstandard passwort patches patricia patrick
patriot patriots patton pauline pavilion payton peace peaches peanut peanutbutter peanuts pearl pearljam pebbles pedro
peekaboo peewee pegasus pencil penelope penguin penguins penis penny penthous pentium people pepper pepsi perfect
personal pervert peter peterpan peters peterson peugeot pfqwtd27121988 phantom philadelphia philip philips phillies
phillip phillips philly phoebe phoenix photo photos phpbb picard picasso piccolo pickle pickles picture pierre piglet
pikachu pillow pilot pimpin pineappl pingpong pinkfloy pioneer pippen pirate pirates pistol pitbull pizza planet
plastic platinum playboy player playstation2 playstation3 playtime please pleasure plumber plymouth poison pokemon
polaris police polina polniypizdec polniypizdec0211 polniypizdec1102 polniypizdec110211 polska pompey poncho pontiac
poodle poohbear pookie poontang pooper poopie poopoo pooppoop pooter popcorn popeye porkchop porno pornographic pornos
pornstar porsche porter portland portugal positive possum postal potato potter powder powell power powers precious
predator prelude presario presto preston pretty primus prince princes princess printer private privet prodigy
professional profit psycho ptybnxtvgbjy pumpkin punisher punkin punkrock punksnotdead puppies puppy pupsik purple
pussie pussies pussy pussycat pussys putter pyramid python q1w2e3r4t5y6 q1w2e3r4t5y6u7 q1w2e3r4t5y6u7i8
q1w2e3r4t5y6u7i8o9p0 qawsed qawsedrf qawsedrftgyh qaz123wsx456 qazqaz qazwsx qazwsx123456 qazwsxed qazwsxedc
qazwsxedc123 qazwsxedcrfv qazwsxedcrfvtgb qazwsxqazwsx qazxsw qazxswedc qazxswedc123 qazxswedcvfr quality quattro
queen quincy qwaszx qwaszxerdfcv qwe123qwe123 qweasd qweasdzxc qweasdzxc123 qweqwe qwerasdf qwerasdfzxcv qwert
qwertasdfgzxcvb qwerty qwerty123456 qwerty123456789 qwertyasdfgh qwertyu qwertyui qwertyuio qwertyuiop qwertyuiop10
qwertyuiop12 qwertyuiop123 qwertyuiop12345 qwertyytrewq rabbit racecar racerx rachael rachel racing rafael ragnarok
raider raiders railroad rainbow raistlin ralph rambler rammstein ramona ramses randall random randy ranger rangers
raptor rascal rasdzv rasputin rastaman raven ravens raymond rbhbkk rctybz ready reagan reality reaper rebecca rebel
rebels redalert redbull reddog redhead redhot redman redneck redrum redskins redsox redwings reebok reggie regina
remember renault renegade rereirf rescue research residentevil respect retard retired revenge review rfhbyf rfnthbyf
rfnthbyf1988 rfrfirf rfrnec rhbcnbyf rhonda ricardo richard richards richie richmond ricky rightnow ripper river
rjirfrgbde rjntyjr roadkill robbie robert roberta roberto roberts robin robinson robotech rocker rocket rockets
rockhard rockon rocks rockstar rocky rodney roger rogers roland roller rolltide roman romance romashka romeo rommel
ronald ronaldinho10 ronaldo ronnie rookie rooster rootbeer roscoe rosebud rosemary rosie rotten route rovers roxanne
royals rubber rugby rulez runner running rupert ruslan russell russia russian rustam rusty sabbath sabina sabine
sabrina sadie safari safety sailboat sailing sailor saint saints sakura sally salmon salvador samantha samara samiam
sammie sammy sampson samson samsung samuel samurai sanchez sanders sandiego sandman sandra sandro sandy sanfrancisco
santana santiago santos sapphire sarah saratoga sasha sassy satan satisfaction saturday saturn saun24865709 sausage
savage savannah sayang scandinavian scania scarface scarlet scarlett school schoolgirlie science scooby scoobydo
scooter scorpio scorpion scotch scotland scott scottie scotty scrappy scratch scream scruffy scully sdicmt7seytn
seamus search seattle sebastia sebastian secret security seeker seemnemaailm seinfeld select selena seminole semperfi
sentinel septembe september serega serena serenity sergei sergey sergio server service sesame seven sexsex sexual
sexygirl shado shadow shaggy shalom shaman shamrock shane shaney shania shannon shaolin shark sharks sharky sharon
shasta shaved shazam shearer sheena sheila shelby shelley shelly shemale sherlock sherman sherry sherwood shiloh
shirley shithead shitty shogun shooter shopping short shorty shotgun showme showtime sidney siemens sierra silence
silver silvia simba simon simone simple simpson simpsons sinatra sinclair singer single sinner sirius sister sithlord
sixers skater skeeter skiing skinny skipper skippy skittles skorpion skydive skyline skywalke skywalker slacker slappy
slapshot slave slayer sleepy slick slider slipknot sluts slutty small smile smiles smiley smith smitty smoke smoker
smokey smokin smooth smudge snake snakes snapper snatch snickers sniper snoopdog snoopy snowball snowman snuggles
sobaka soccer socrates softball software sojdlg123aljg soldier soleil solnce solomon somethin sommer sonic
sonnenschein sonyericsson sooner sooners sophia sophie southern space spank spanking spankme spanky sparkle sparks
sparky sparta spartak spartan spartans speaker spears special specialinsta spectrum speed speedy spencer spider
spiderma spiderman spidey spike spirit spitfire splash splinter spooky sport sports spring springer sprint sprite
spunky spurs spyder squirrel squirt srinivas stacey stalker stallion standard stanley starbuck starcraft stardust
starfish stargate stars starship startrek starwars station stealth steele steeler steelers stefan stefano stella
stephani stephanie stephen sterlin sterling steve steven stevie stewart stick stickdaddy77 sticks sticky stimpy
stinger stingray stinky stinkyfinger stocking stocks stolen stone stonecol stoner stones storm stormy stranger
stratocaster street strider strike striker stripper strong stuart student studio stuff stupid subaru sublime subway
success sucker suckit suckme sucks sugar sultan summer summit sundance sunday sunny sunrise sunset sunshine super
superfly superman supernatural supersta superstar support surfer surfing susan suzanne suzuki svetik svetlana swallow
sweden sweet sweetie sweetpea sweets sweety swimmer swimming swinger swingers sword swordfis swordfish sydney sylvia
syracuse system systemofadown tabitha tacobell tacoma tamara tammy tanker tanner tanya tardis target tarheel tarheels
tarzan tasha tatiana tattoo tatyana taurus taylor tazman tazmania tdutybq teacher technics techno teddy teens tekken
telefon tempest temple temppassword tennis tequila teresa terminal terminator terror terry tester testing testtest
texas thailand thanks thankyou theboss thecakeisalie thegame thekid theking theman theodore theone theresa therock
thomas thompson throat thuglife thumper thunder thursday ticketmaster tickle tiffany tiger tigers tigger tight timber
timmy timothy tinker tinman tintin titanic titans titleist titties tobias today tolkien tomato tomcat tommy tommyboy
tomtom tootsie topcat topdog topgun topper tornado toronto torres toshiba tottenha toyota tracey tractor tracy traffic
train trains trance transam transformers translator travel travis treasure trebor trevor trfnthbyf tricky trident
trigger trinidad trinity tristan triton triumph trixie trojan trojans trombone trooper trouble trout truck trucker
trucks truelove trumpet trunks trustno tsunami tucker tuesday tunafish tundra turbo turkey turner turtle tweety
twilight twisted twister tyler typhoon tyrone ultima ultimate umbrella unbelievable underdog unicorn united universe
unknown unreal usuckballz utopia vacation vader vagina valentin valentina valera valeria valerie valhalla valley
vampire vanessa vanhalen vanilla vanyarespekt vector vectra vegeta velvet venus verbatim veritas vermont vernon verona
veronica veronika vertigo vette vfczyz vfhbyf vfhbyfvfhbyf vfhecz vfhufhbnf vfksirf vfrcbv vfrcbvrf vfrcbvvfrcbv
vfvekz vfvfvskfhfve vfvjxrf viagra victor victoria victory video vietnam viking vikings viktor viktoria vincent violet
viper vipers virgin virginia vision vitalik vivian vkontakte vladik vladimir vladimirovna vladislav volley volume
voodoo vortex voyager voyeur vulcan walker wallace walleye wally walnut walter wanker warcraft warhammer warhammer40k
warlock warlord warren warrior warriors wassup water waterloo waters watson wayne wazzkaprivet weasel weather
webmaster websolutions websolutionssu webster webuivalidat weezer weihnachtsbau weihnachtsbaum welcome wendy werewolf
werner wesley western westham westside wetpussy whatever wheels whiskey whisper white whitney whocares whore
whosyourdaddy whynot wibble wicked wilbur wildcat wildcats wildfire william williams willie willis willow willy wilson
window windows winner winnie winston winter wisdom wizard wolfgang wolfie wolfman wolfpack wolverin wolverine wolves
wombat women wonder woody woofwoof wookie wordpass world wrangler wrestlin wright wrinkle writer wutang xanadu xavier
xfiles xtreme xxxp455w0rd5 yamaha yankee yankees ybrbnf yellow yfnfif yomama yosemite young yourmom yousuck yvonne
yzerman z1x2c3v4b5n6 z1x2c3v4b5n6m7 zachary zaphod zaq12wsxcde3 zaq1xsw2cde3 zaqwsx zaqwsxcderfv zaqxsw zcfvfzkexifz
zenith zeppelin zidane zipper zombie zorro zqjphsyf6ctifgu zvezda zxcasd zxcasdqwe zxcasdqwe123 zxcvbn zxcvbn123456
zxcvbnm zxcvbnm123456789 zxcvbnmmnbvcxz
`
    .trim()
    .split(/\s+/),
);
