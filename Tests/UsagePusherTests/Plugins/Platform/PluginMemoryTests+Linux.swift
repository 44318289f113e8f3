#if os(Linux)
    import Foundation
    import Testing

    @testable import UsagePusher

    @Suite("Memory of plug-ins", .timeLimit(.minutes(1)))
    struct PluginMemoryTests {
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
            home.run(memoryByteCount: 67_108_864)
            #expect(home.detail("plugin").hasPrefix("exit status "))
            #expect(home.reading().providers.isEmpty)
        }
    }
#endif
