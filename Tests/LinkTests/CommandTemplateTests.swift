@testable import link
import Testing

@Suite("Commands that open links")
struct CommandTemplateTests {
    private func command(_ template: [String], _ value: String) throws -> [String] {
        let link = try AirmailLink("airmail://message?messageid=\(value)")
        let target = try LinkTarget(link, as: .custom, command: CommandTemplate(template))
        guard case .command(let words) = target else { return [] }
        return words
    }

    @Test("placeholders stand for the id, decoded and as in a URL, without angle brackets")
    func placeholders() throws {
        #expect(
            try command(["show", "id:{id}", "--url=x:{id_encoded}", "{id}{id}"], "%3Ca%40b%3E")
                == ["show", "id:a@b", "--url=x:a%40b", "a@ba@b"])
    }

    @Test("what an id contains stays in one argument, and is no placeholder")
    func hostile() throws {
        for id in ["$(touch x)", "`x`", "a; rm -r /", "a' \"b", "{id_encoded}{id}", "*", "a|b&c"] {
            let value = id.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            #expect(try command(["show", "{id}"], value) == ["show", id])
        }
    }

    @Test("an id becomes an option only after --")
    func options() throws {
        for template in [["show", "{id}"], ["show", "{id_encoded}"], ["show", "{id}{id}", "--"]] {
            #expect(throws: LinkError.invalidURLConstruction(.option)) {
                try command(template, "--exec=x@y")
            }
        }
        #expect(try command(["show", "--", "{id}"], "-x@y") == ["show", "--", "-x@y"])
        #expect(try command(["show", "-i{id}"], "-x@y") == ["show", "-i-x@y"])
        for template in [
            ["foot", "--", "show", "{id}"], ["show", "--", "all", "{id}"], ["show", "{id}", "--", "x"],
        ] {
            for value in ["-x@y", "%2Bx@y"] {
                #expect(throws: LinkError.invalidURLConstruction(.option), "\(template)") {
                    try command(template, value)
                }
            }
        }
        #expect(try command(["show", "--", "{id}", "{id}"], "%2Bx") == ["show", "--", "+x", "+x"])
        #expect(try command(["show", "id:{id}"], "-x") == ["show", "id:-x"])
    }

    @Test("no command is given an airmail: link again")
    func loops() {
        for (template, value) in [
            ("{id}", "AirMail:x@y"), ("airmail://message?messageid={id_encoded}", "x@y"),
        ] {
            #expect(throws: LinkError.invalidURLConstruction(.loop)) {
                try command(["xdg-open", template], value)
            }
        }
    }

    @Test("a link needs a command of this machine")
    func none() throws {
        let link = try AirmailLink("airmail://message?messageid=a@b")
        #expect(throws: LinkError.openFailed(.noCommand)) { try LinkTarget(link, as: .custom) }
    }

    @Test(
        "a command that could not be trusted with an id is no command",
        arguments: [
            ([], .empty), (["", "{id}"], .empty), (["show"], .noPlaceholder), (["show-{id}"], .programFromLink),
            (["{id_encoded}", "{id}"], .programFromLink), (["show", "a\n{id}"], .controlCharacter),
            (["sh", "-c", "x {id}"], .code(option: "-c")), (["mutt", "-e", "push {id_encoded}"], .code(option: "-e")),
            (["show"] + Array(repeating: "{id}", count: 64), .tooLong),
            (["show", "{id}" + String(repeating: "x", count: 4_096)], .tooLong),
        ] as [([String], CommandTemplate.Flaw)])
    func flaws(arguments: [String], flaw: CommandTemplate.Flaw) {
        #expect(throws: flaw) { try CommandTemplate(arguments) }
    }

    private static let refused = """
        sh {id}
        sh -c {id}
        bash -lc {id}
        sh -xc {id}
        /bin/bash script {id}
        zsh script -- {id}
        python3 -c{id}
        python3.12 show.py {id}
        show --eval={id}
        show --eval {id}
        show -c{id}
        show -xec {id}
        show -exec {id}
        show --command={id_encoded}
        nvim --cmd {id}
        vim +{id}
        vim -- {id}
        vi {id}
        ex {id}
        emacs --eval {id}
        emacsclient -e {id}
        less {id}
        show +{id}
        node -e {id}
        perl -ne {id}
        ruby -e {id}
        awk {id}
        gawk -f x {id}
        sed -e {id}
        sed {id} mail
        git -c {id} log
        git log {id}
        ssh host show {id}
        rsync -e {id} a b
        tar --checkpoint-action=exec={id} -cf x y
        tar -cf {id} y
        find . -name {id}
        xargs show {id}
        tmux new-window {id}
        tmux new-window show {id}
        screen -X {id}
        watch show {id}
        su -c {id}
        busybox sh {id}
        swaymsg exec {id}
        parallel show ::: {id}
        env {id}
        env -i {id}
        env -S {id}
        env X={id} show
        env X=1 {id}
        env -u X sh {id}
        env --unknown x show {id}
        nohup {id}
        nohup sh x {id}
        nice -n 5 {id}
        nice -5 show {id}
        setsid -f {id}
        timeout 5 {id}
        timeout -k 1 5 sh x {id}
        timeout {id} show
        sudo {id}
        sudo -u a {id}
        sudo -s {id}
        sudo -- {id}
        doas vi {id}
        flatpak-spawn --host sh x {id}
        flatpak-spawn --host {id}
        systemd-run --user --scope {id}
        xterm -e {id}
        xterm -e sh x {id}
        xterm -title {id} -e show
        xterm {id}
        gnome-terminal -- vi {id}
        gnome-terminal --title {id}
        konsole -e env vi {id}
        foot {id}
        foot -- {id}
        foot --app-id x vi {id}
        foot nohup env A=b vi {id}
        kitty -o {id}
        mywrapper bash x {id}
        mywrapper /usr/bin/python3 x {id}
        {id}
        ./{id} x
        """

    private static let accepted = """
        notmuch show id:{id}
        notmuch show -- {id}
        mu view {id}
        mu find msgid:{id}
        himalaya message view -- {id}
        thunderbird mid:{id_encoded}
        foot mail-show -- {id}
        foot -- mail-show -- {id}
        foot -T Mail mail-show {id}
        kitty --hold mail-show {id}
        xterm -e mail-show {id}
        gnome-terminal --title=Mail -- mail-show {id}
        env -u LANG A=b mail-show {id}
        nohup nice -n 5 mail-show {id}
        timeout -s KILL 5 mail-show {id}
        sudo -n -u mail mail-show {id}
        flatpak-spawn --host mail-show {id}
        systemd-run --user --scope mail-show {id}
        show -i{id}
        show --url=x:{id_encoded}
        show {id}{id}
        /home/ann/bin/show.py {id}
        show-python {id}
        """

    @Test(
        "an id is never given to what may execute it, nor is it the program",
        arguments: refused.split(separator: "\n").map(String.init))
    func refusals(line: String) {
        #expect(throws: CommandTemplate.Flaw.self) {
            try CommandTemplate(line.split(separator: " ").map(String.init))
        }
    }

    @Test(
        "an id is given to programs that take it as data", arguments: accepted.split(separator: "\n").map(String.init))
    func acceptances(line: String) throws {
        _ = try CommandTemplate(line.split(separator: " ").map(String.init))
    }
}
