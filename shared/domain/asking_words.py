"""Vocabulary of requests and tool names; all folded.

A verb with its particle is written `check+off`. A class holds imperatives and infinitives of seven
languages, never a past or a third person: "send" asks, "sent" reports. A missing word leads to a question.
"""

from collections.abc import Mapping


def some(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


def _classes(**classes: str) -> Mapping[str, frozenset[str]]:
    return {name: some(words) for name, words in classes.items()}


ACTIONS = _classes(
    create="""
        create add make put write note save jot record log remember remind enter append schedule plan
        set insert upload compose draft turn convert block open book
        reserve file stick pop throw capture track extract new want need
        ubernimm ubernehme ubernehmen erstell erstelle erstellen leg lege anlegen fug fuge hinzufugen trag trage eintragen schreib
        schreibe schreiben aufschreiben notier notiere notieren mach mache machen setz setze setzen
        speicher speichere speichern stell stelle neue neuer neues plan plane planen merk merke merken erinner erinnere erinnern
        pack packe nimm aufnehmen verwandle verwandeln vermerk vermerke vermerken
        nouvelle nouveau cree creer creez ajoute ajouter ajoutez mets mettre mettez note noter notez ecris ecrire
        ecrivez enregistre enregistrer planifie planifier rappelle rappeler inscris fais
        nueva nuevo crea crear anade anadir agrega agregar pon poner anota anotar apunta apuntar guarda guardar
        escribe escribir programa programar recuerda recordar haz hacer
        nuova nuovo creare aggiungi aggiungere metti mettere segna segnare scrivi scrivere annota annotare ricorda
        ricordare salva salvare fissa fissare fai
        nova novo cria criar crie adiciona adicionar adicione poe coloca colocar coloque anote escreve escrever
        escreva lembra lembrar lembre agenda agendar marca marcar
        nieuwe maak maken aanmaken voeg toevoegen zet zetten noteer noteren schrijf schrijven herinner plannen
        arrange dictate punch tack whack chuck dump toss submit
            generate produce bookmark invite pencil+in take+note take+down leave+note
        tu tue tun packen schmeiss wirf erganze erganzen hinterlege
        hinterlegen erfass erfasse erfassen sichere sichern vereinbare vereinbaren melde melden
        rajoute rajouter rajoutez cale caler prevois prevoir redige rediger fixe fixer organise organiser retiens
        crees anadas agregas pongas apuntes anotes guardes escribas programes recuerdes echa echar mete meter incluye
        incluir registra registrar redacta redactar sumar suma
        inserisci inserire pianifica pianificare programma programmare prepara preparare registrare
        segnala segnalare appunta appuntare aggiunga metta
        por bota botar inclui regista registar salvar aponta
        apontar insere inserir
        doe doen gooi gooien onthoud onthouden registreer registreren plak boek plaats sla""",
    send="""
        send shoot ping drop+message drop+line reply respond answer tell write message text email mail post publish tweet comment
        notify say let
        schick schicke schicken send sende senden antworte antworten beantworte beantworten schreib
        schreibe schreiben sag sage sagen poste posten mail maile mailen veroffentliche
        envoie envoyer envoyez reponds repondre repondez ecris ecrire dis publie publier
        envia enviar manda mandar responde responder contesta contestar escribe escribir di decir
        publica publicar
        invia inviare mandare rispondi rispondere scrivi scrivere pubblica pubblicare
        envie mande responda escreve escrever escreva diga publique
        stuur sturen verstuur antwoord antwoorden beantwoord schrijf schrijven plaats
        whatsapp announce fire+mail fire+email
        informier informiere informieren benachrichtige benachrichtigen gib+bescheid teil+mit verkund melde
        simse kommentiere kommentieren
        previens prevenir informe informer avertis avertir signale signaler commente commenter dites
        avisa avisar avise informa informar comenta comentar envies mandes digas respondas notifica notificar
        avvisa avvisare informare comunica comunicare commenta commentare dire digli dille
        diz dizer notifique
        laat+weten meld melden zeg zeggen """,
    update="""
        update push bump delay change edit modify rename reopen move reschedule postpone shift replace label star archive
        assign adjust
        ander andere andern verschieb verschiebe verschieben verleg verlege verlegen benenn benenne
        umbenennen bearbeite bearbeiten aktualisiere aktualisieren
        change changer modifie modifier deplace deplacer reporte reporter renomme renommer
        cambia cambiar modifica modificar mueve mover aplaza aplazar renombra actualiza actualizar
        cambiare modificare sposta spostare rinvia rinviare rinomina aggiorna aggiornare
        muda mudar mude altera alterar altere move mova adia adiar atualiza atualizar
        wijzig wijzigen verander veranderen verplaats verplaatsen verzet hernoem
        revise set amend extend shorten turn+down turn+up shove
        schieb schiebe schieben pass+an kurze verlangere tausche erhohe senke setz+auf
        decale decaler repousse repousser avance avancer remplace remplacer ajuste ajuster mets+jour
        pasa pasar adelanta adelantar retrasa retrasar pospon posponer muevas cambies ajusta ajustar reprograma reprogramar
        anticipa anticipare posticipa posticipare ritarda passa cambiami spostami
        passar antecipa antecipar remarca remarcar troca trocar
        verschuif verschuiven pas+aan schuif zet+op""",
    complete="""
        complete completed mark check+off cross+off tick finish done close resolve resolved
        hak hake abhaken erledige erledigen markier markiere markieren schliess schliesse schliessen
        erledigt coche cocher marque marquer termine terminer cloture fait
        completa completar marca marcar termina terminar cierra cerrar hecha hecho
        completare segna segnare spunta spuntare chiudi chiudere fatto
        conclui concluir conclua marque feito feita fecha fechar
        vink afvinken markeer markeren afronden voltooi voltooien
        tick+off strike+off
        streich+liste abgehakt kreuze kreuz valide valider raye rayer tacha tachar concluye
        depenna depennare assinala risca riscar vink+af streep+af strepen""",
    delete="""
        delete deleted remove removed cancel cancelled canceled clear erase discard drop trash
        unsubscribe leave call+off get+rid decline disable deactivate revoke block uninstall terminate purge wipe undo
        losch losche loschen entfern entferne entfernen storniere stornieren abonnier kundige kundigen
        verlass verlasse verlassen sperr sperre sperren
        supprime supprimer supprimez efface effacer annule annuler enleve enlever quitte quitter
        elimina eliminar borra borrar cancela cancelar quita quitar
        cancella cancellare annulla annullare eliminare rimuovi rimuovere
        apaga apagar apague exclui excluir exclua remove remover cancele
        verwijder verwijderen wis wissen annuleer annuleren
        take+off strike scrap ditch bin nix axe
        streich streiche streichen tilge
        retire retirer borres elimines anula anular togli togliere tira tirar schrap schrappen haal+af""",
    pay="""
        pay buy purchase order transfer donate tip invest withdraw deposit bid book reserve rent
        subscribe checkout sell trade exchange refund spend charge wire payment
        bezahl bezahle bezahlen zahl zahle zahlen kauf kaufe kaufen bestell bestelle bestellen
        uberweis uberweise uberweisen buch buche buchen reservier reserviere reservieren spende
        paie payer achete acheter commande commander vire virer reserve reserver
        paga pagar compra comprar pide pedir transfiere transferir reserva reservar
        pagare compra comprare ordina ordinare trasferisci trasferire prenota prenotare
        pague compre encomenda transfere reserve
        betaal betalen koop kopen bestel bestellen boek boeken reserveer""",
    grant="""
        grant share invite allow permit authorize authorise give approve forward expose
        teile teil teilen gib geben erlaube erlauben einladen lad lade freigeben weiterleiten
        partage partager invite inviter autorise autoriser donne donner transfere transferer
        comparte compartir invita invitar permite permitir da dar reenvia reenviar
        condividi condividere invitare permetti dai dare inoltra inoltrare
        compartilha compartilhar compartilhe convida convidar permita encaminha encaminhar
        deel delen nodig uitnodigen geef geven""",
    operate="""
        unlock lock open start stop turn switch activate enable arm disarm dispatch execute run call
        dial control play pause go drive launch install restart reboot
        entsperr entsperre entsperren verriegle verriegeln offne offnen starte starten stopp stoppe
        stoppen schalte schalten aktiviere aktivieren ruf rufe anrufen spiel spiele spielen
        deverrouille ouvre ouvrir demarre arrete allume eteins appelle joue
        desbloquea abre abrir inicia enciende apaga llama pon reproduce
        sblocca apri aprire avvia accendi spegni chiama riproduci
        desbloqueia abra inicia liga desliga toca
        ontgrendel open start zet schakel bel speel
        kill+light kill+lights dim mach+an mach+aus mache+aus mache+an mach+auf knips knipse dreh drehe drehen
        allumer eteindre lance lancer mets+musique encender apagar prende prender arranca
        accendere spegnere attiva attivare metti+musica acende acender desligar ligar ativa
        doe+aan doe+uit zet+aan zet+uit draai steek doe+dicht schliess+ab abschliessen schliesse+ab""",
)
KIN = {"update": "complete", "complete": "update"}
"""Who marks a thing as done changes it."""
GRAVE = frozenset({"delete", "pay", "grant", "operate"})
"""What pays, deletes, gives access or moves things: hard to undo, or out in the world."""
GRAVE_THINGS = some(
    """password passwords permission permissions access role roles admin visibility money funds cash
    key keys token tokens credential credentials security factor forwarding policy"""
)
SELF = some("me us mir uns mich moi nous mij ons")
"""Who is told or given something by themselves gets an answer: nothing is sent or shared."""

READS = some(
    """read show find search look check summarise summarize get tell fetch list give translate explain
    see open compare count quote describe take use go pull scan review grab
    lies lese lesen zeig zeige such suche suchen schau fass prufe nenn nenne nimm hol sieh
    lis montre cherche trouve resume regarde donne verifie prends
    lee muestra busca encuentra resume mira dame revisa toma
    leggi mostra cerca trova riassumi guarda dammi controlla prendi
    le leia mostra mostre procura procure resume ve veja pega
    lees toon zoek vind bekijk geef pak
    sag sage schau guck gucke kuck pruf schaue vorlesen nachsehen
    dis dites vois voir di dime leer mirar dimmi dille leggere diz ver zeg kijk kijken"""
)

THINGS = _classes(
    task="""task todo item action down auf reminder remind remember list note checklist
        aufgabe aufgaben aufgabenliste erinnerung erinner erinnere erinnern merk merke liste notier
        notiere notieren todos
        tache taches rappel rappelle rappeler liste note noter
        tarea tareas recordatorio recuerda recordar pendiente pendientes lista anota apunta
        compito compiti attivita promemoria ricorda ricordare segna
        tarefa tarefas lembrete lembra lembrar lembre
        taak taken takenlijst lijst herinnering herinner noteer""",
    event="""event meeting appointment calendar schedule reschedule
        termin termine kalender kalendereintrag besprechung treffen verabredung
        evenement rendez reunion agenda calendrier
        evento cita reunion calendario
        riunione appuntamento agenda
        reuniao compromisso agendar
        afspraak vergadering""",
    message="""message mail email gmail inbox sms text dm chat back reply respond answer thread
        nachricht nachrichten antwort antworte antworten beantworte post
        courriel courrier reponds repondre reponse
        mensaje correo responde responder contesta contestar respuesta
        messaggio posta rispondi rispondere risposta
        mensagem responda resposta
        bericht antwoord beantwoord mailtje
        tell text whatsapp inform notify sag informiere dis previens di dile digli dille avisa avise diz laat zeg app""",
    note="""note notes notebook page document doc entry journal
        notiz notizen seite dokument eintrag
        page carnet
        nota notas apunte apuntes pagina documento
        appunto appunti
        notitie notities""",
    post="""post tweet status update timeline
        beitrag publication publica publicacion pubblica publie""",
    issue="issue ticket bug incidencia fehler probleme",
    file="file folder datei ordner fichier dossier archivo carpeta cartella arquivo pasta bestand map",
    off="off aus uit eteins eteindre apaga apagar apague spegni spegnere desliga desligar kill",
    on="on an ein aan allume allumer enciende encender prende prender accendi accendere acende acender liga ligar",
    light="""light lamp licht lichter lampe lampen lumiere lumieres lampe luz luces lampara luce luci lampada lampadina
        luzes lichten""",
    door="door tur haustur porte puerta porta deur voordeur",
    temperature="""temperature heating heat heater thermostat heizung temperatur chauffage temperatura calefaccion
        riscaldamento aquecimento verwarming temperatuur""",
    track="track song music titel lied chanson titre morceau cancion tema canzone brano musica liedje nummer",
    list="""list liste lista lijst lijstje checklist groceries item items shopping cart einkauf courses compra spesa
        compras boodschappen""",
    expense="""expense expenses spending cost ausgabe ausgaben kosten depense depenses gasto gastos spesa spese despesa
        despesas uitgave uitgaven""",
    table="table reservation booking tisch reservierung tavolo prenotazione mesa reserva tafel reservering",
    contact="contact contacts customer lead kontakt kunde client contacto cliente contatto contato contact klant",
    alarm="alarm timer wecker reveil minuteur despertador alarma temporizador sveglia wekker",
)

WHEN = some(
    """am pm oclock noon midnight tomorrow tonight
    monday tuesday wednesday thursday friday saturday sunday
    uhr morgen mittag montag dienstag mittwoch donnerstag freitag samstag sonntag
    heures demain midi lundi mardi mercredi jeudi vendredi samedi dimanche
    manana mediodia lunes martes miercoles jueves viernes sabado domingo
    domani mezzogiorno lunedi martedi mercoledi giovedi venerdi
    amanha segunda terca quarta quinta sexta
    uur maandag dinsdag woensdag donderdag vrijdag zaterdag zondag"""
)
"""What is put at one of these, or moved to it, is an event or to be remembered."""
TIMED = some("event reminder meeting appointment alarm")
RECORDS = some("task event message note post issue file")
"""The things that tools return; all others are single ones in somebody's home or shop."""
SWITCHED = THINGS["light"] | THINGS["temperature"]
SWITCHING = some("on off an aus ein uit aan")
RECALLING = some(
    "it them that there one es ihn sie sie das dort davon dran daran dazu lo la los las le les li ci het ze er"
)
"""Stands for what was named before."""
THE = some(
    """the a an my our this that these those all every both his her their
    der die das den dem ein eine einen mein meine meinen unsere alle
    le la les l un une mon ma mes el los las una mi mis il lo i gli uno mio mia o os as um uma meu
    minha het een mijn"""
)
PREPOSITIONS = some(
    """from of about to for in on at by with into onto off
    von vom aus uber fur auf in an bei mit zu zum zur
    de du des pour dans sur del para en con della di da per nel do da no na van voor met op"""
)
WHOSE = some("from of about von vom uber du des del della van")
"""Right behind a word that is both, these make it a noun: "mail from Ann", "note of the day"."""
PLACED = some("in on auf dans sur en su op no na")
SLIPS_NOT = some(
    "antes entre tasche tauche schere scribe covert inert sposa posten meden diets taste median unsent"
)
"""Words of their own, that a slip in a verb would make too."""
PARTITIVE = some("du des")
PARTICLES = some("on off up down out in an aus auf ab zu")

NOT = some(
    """not no never don dont doesn didn won isn wouldn shouldn cannot without
    nicht kein keine keinen nie niemals ohne ne pas jamais sans nunca sin jamas non mai senza nao sem
    niet geen nooit zonder"""
)

SPELT = {
    **dict.fromkeys(["two", "zwei", "deux", "dos", "due", "dois", "duas", "twee"], ("2",)),
    **dict.fromkeys(["three", "drei", "trois", "tres", "tre", "drie"], ("3",)),
    **dict.fromkeys(["four", "vier", "quatre", "cuatro", "quattro", "quatro"], ("4",)),
    **dict.fromkeys(["five", "funf", "cinq", "cinco", "cinque", "vijf"], ("5",)),
    **dict.fromkeys(["six", "sechs", "seis", "sei", "zes"], ("6",)),
    **dict.fromkeys(["seven", "sieben", "sept", "siete", "sette", "sete", "zeven"], ("7",)),
    **dict.fromkeys(["eight", "acht", "huit", "ocho", "otto", "oito"], ("8",)),
    **dict.fromkeys(["nine", "neun", "neuf", "nueve", "nove", "negen"], ("9",)),
    **dict.fromkeys(["ten", "zehn", "dix", "diez", "dieci", "dez", "tien"], ("10",)),
    "m": ("am",),
    "ll": ("will",),
    "re": ("are",),
    "ve": ("have",),
    "im": ("i", "am"),
    "ive": ("i", "have"),
    "youre": ("you", "are"),
    "theyre": ("they", "are"),
    "cant": ("can", "t"),
    "wont": ("won", "t"),
    "dont": ("don", "t"),
    "isnt": ("isn", "t"),
    "doesnt": ("doesn", "t"),
    "didnt": ("didn", "t"),
}
"""One way to write what is written in several: numbers, and what an apostrophe shortens."""
ADDRESSED = {
    "you": some("her him them"),
    "your": some("her his their"),
    "dir": some("ihm ihr"),
    "dich": some("ihn sie"),
    "euch": some("ihnen sie"),
}
"""Who is spoken of to Keepsake is spoken to in the message: "tell her I miss her"."""
VERB_LAST = some("dass dat weil omdat")
"""Behind these the verb stands last, and second once the clause stands alone."""
