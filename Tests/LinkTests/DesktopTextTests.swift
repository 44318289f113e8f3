@testable import link
import Testing

@Suite("Texts of desktops")
struct DesktopTextTests {
    @Test(
        "an entry names the program at any path",
        arguments: ["/usr/bin/ubiquity-link", "/a b/link", "/100%/link", #"/a"b`c$d\e/link"#, "/é/link"])
    func path(program: String) throws {
        let text = try #require(DesktopEntry.text(program: program))
        #expect(DesktopEntry.program(in: text) == program)
        #expect(text.contains("MimeType=x-scheme-handler/airmail;\n"))
        #expect(text.contains("NoDisplay=true\n"))
        #expect(text.contains(" open -- %u\n"))
    }

    @Test("no entry is made that a path would add lines to")
    func lineFeed() { #expect(DesktopEntry.text(program: "/a\nExec=x") == nil) }

    @Test("programs and names are found in entries of others")
    func others() {
        let text = """
            # [Desktop Entry]
            [Desktop Entry]\r
            Name[de]=Falsch
            Name = Mail of Ann
            Exec=env "A B=c" mail %u

            [Desktop Action compose]
            Name=Write
            """
        #expect(DesktopEntry.name(in: text) == "Mail of Ann")
        #expect(DesktopEntry.program(in: text) == "env")
        for text in ["", "[Desktop Entry]", "[Desktop Entry]\nExec=\n", "Exec=x"] {
            #expect(DesktopEntry.program(in: text) == nil)
        }
    }

    @Test("an application is removed from the lists of one type, and all else stays")
    func removal() {
        let text = """
            [Default Applications]
            x-scheme-handler/airmail=ours.desktop
            x-scheme-handler/mid=ours.desktop;other.desktop

            [Added Associations]
            x-scheme-handler/airmail=other.desktop;ours.desktop;
            x-scheme-handler/airmail2=ours.desktop
            """
        #expect(
            KeyFile(text).removing("ours.desktop", from: "x-scheme-handler/airmail") == """
                [Default Applications]
                x-scheme-handler/mid=ours.desktop;other.desktop

                [Added Associations]
                x-scheme-handler/airmail=other.desktop;
                x-scheme-handler/airmail2=ours.desktop
                """)
        #expect(KeyFile("").removing("a", from: "b") == "")
    }
}
