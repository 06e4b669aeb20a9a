"""Large cities, countries and states in English: "moved to X" is about a home only for these.

Programs, teams and firms are moved to as well ("I moved to Neovim", "I moved to Google"), so an
unknown name after this verb is no home. Statements with "live in" need no such list.
"""

_CITIES = """
Aberdeen Adelaide Alicante Almaty Amsterdam Ankara Antalya Antwerp Astana Athens Atlanta Auckland
Austin Baku Bali Baltimore Bangalore Bangkok Barcelona Basel Batumi Beijing Beirut Belfast Belgrade
Bengaluru Bergen Berlin Bern Bilbao Birmingham Bishkek Bogota Bologna Bordeaux Boston Boulder
Bratislava Bremen Brighton Brisbane Bristol Brno Brooklyn Brussels Bucharest Budapest Bursa Cairo
Calgary Cambridge Canberra Cardiff Casablanca Charlotte Chelyabinsk Chennai Chicago Chisinau
Cincinnati Cleveland Cologne Columbus Copenhagen Cork Dallas Delhi Denver Detroit Doha Dortmund
Dresden Dubai Dublin Dubrovnik Durban Dusseldorf Edinburgh Edmonton Eindhoven Essen Florence
Frankfurt Gdansk Geneva Genoa Ghent Glasgow Gothenburg Graz Grenoble Guadalajara Guangzhou Haifa
Hamburg Hannover Hanoi Havana Helsinki Honolulu Houston Hyderabad Indianapolis Irkutsk Istanbul
Izmir Jakarta Jerusalem Johannesburg Kaliningrad Karachi Kathmandu Kazan Kharkiv Kiev Krakow
Krasnodar Krasnoyarsk Kyiv Kyoto Lagos Lausanne Leeds Leicester Leipzig Lille Lima Limassol Lisbon
Liverpool Ljubljana Lodz London Luxembourg Lviv Lyon Madrid Malaga Malmo Manchester Manila Marseille
Melbourne Memphis Miami Milan Milwaukee Minneapolis Minsk Montpellier Montreal Moscow Mumbai Munich
Murmansk Nairobi Nantes Naples Nashville Newcastle Nice Nicosia Nottingham Novosibirsk Nuremberg
Odessa Omsk Orlando Osaka Oslo Ottawa Oxford Palermo Palma Paris Perm Perth Philadelphia Phoenix
Pisa Pittsburgh Plovdiv Podgorica Portland Porto Potsdam Poznan Prague Pune Quito Reykjavik Riga
Rome Rotterdam Sacramento Salzburg Samara Samarkand Santiago Sapporo Sarajevo Seattle Seoul Seville
Shanghai Sheffield Shenzhen Singapore Skopje Sochi Sofia Split Stockholm Strasbourg Stuttgart Sydney
Taipei Tallinn Tampa Tampere Tartu Tashkent Tbilisi Tehran Thessaloniki Tirana Tokyo Toronto
Toulouse Trieste Tucson Tunis Turin Tyumen Ufa Utrecht Valencia Valletta Vancouver Varna Venice
Verona Victoria Vienna Vilnius Vladivostok Volgograd Voronezh Warsaw Wellington Winnipeg Wroclaw
Yekaterinburg Yerevan York Zagreb Zaragoza Zurich NYC
"""

_LAND = """
Albania Algeria Argentina Armenia Australia Austria Azerbaijan Belarus Belgium Bolivia Brazil
Bulgaria Cambodia Canada Chile China Colombia Croatia Cuba Cyprus Czechia Denmark Ecuador Egypt
England Estonia Ethiopia Finland France Georgia Germany Ghana Greece Hungary Iceland India Indonesia
Iran Iraq Ireland Israel Italy Jamaica Japan Jordan Kazakhstan Kenya Kosovo Kyrgyzstan Laos Latvia
Lebanon Lithuania Malaysia Malta Mexico Moldova Mongolia Montenegro Morocco Nepal Netherlands
Nicaragua Nigeria Norway Pakistan Panama Paraguay Peru Philippines Poland Portugal Qatar Romania
Russia Scotland Senegal Serbia Slovakia Slovenia Spain Sweden Switzerland Syria Taiwan Tajikistan
Tanzania Thailand Tunisia Turkey UAE UK USA Uganda Ukraine Uruguay Uzbekistan Venezuela Vietnam
Wales Zambia Zimbabwe Alabama Alaska Arizona Arkansas California Colorado Connecticut Delaware
Florida Hawaii Idaho Illinois Indiana Iowa Kansas Kentucky Louisiana Maine Maryland Massachusetts
Michigan Minnesota Mississippi Missouri Montana Nebraska Nevada Ohio Oklahoma Oregon Pennsylvania
Tennessee Texas Utah Vermont Virginia Wisconsin Wyoming Ontario Quebec Alberta Bavaria Catalonia
Tuscany Sicily Siberia
"""

_LONG = (
    "Abu Dhabi,Buenos Aires,Cape Town,Costa Rica,Czech Republic,Ho Chi Minh City,Hong Kong,"
    "Kuala Lumpur,Las Vegas,Los Angeles,Mexico City,New Delhi,New Jersey,New Orleans,New York,"
    "New York City,New Zealand,Nizhny Novgorod,North Carolina,North Macedonia,Novi Sad,Palo Alto,"
    "Panama City,Phnom Penh,Rio de Janeiro,Rostov-on-Don,Saint Petersburg,Salt Lake City,San Diego,"
    "San Francisco,San Jose,Santa Cruz,Sao Paulo,São Paulo,Saudi Arabia,South Africa,South Korea,"
    "Sri Lanka,St Petersburg,St. Petersburg,Tel Aviv,United Kingdom,United States,Washington DC"
)

PLACES = frozenset(
    name.casefold() for name in (*_CITIES.split(), *_LAND.split(), *_LONG.split(","))
)
