#if os(Linux)
    import Foundation
    import Testing

    @testable import UsagePusher

    @Suite("Bounds of plug-ins that only Linux sets", .timeLimit(.minutes(1)))
    struct PluginBoundsTests {
        @Test("one that allocates more than its limit fails")
        func memory() throws {
            let home = try PluginHome()
            try home.script(
                "plugin",
                """
                s=0123456789; while [ ${#s} -lt 200000000 ]; do s=$s$s; done
                echo '\(PluginHome.document)'
                """)
            try home.enable("plugin")
            home.run(ProgramLimits(seconds: 60, memoryByteCount: 67_108_864))
            #expect(home.detail("plugin").hasPrefix("exit status "))
            #expect(home.reading().providers.isEmpty)
        }

        @Test("it inherits no open file")
        func files() throws {
            let home = try PluginHome()
            let descriptor = dup2(STDIN_FILENO, 200)
            defer { close(descriptor) }
            _ = try home.outcome(of: "[ -e /dev/fd/200 ] && echo inherited >&2; echo '\(PluginHome.document)'")
            #expect(home.detail("plugin") == "zai 12 %")
        }
    }
#endif
