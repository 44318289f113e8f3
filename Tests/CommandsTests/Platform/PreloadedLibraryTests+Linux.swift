#if os(Linux)
    import Foundation
    import TestSupport
    import Testing

    @Suite("Preloaded libraries", .timeLimit(.minutes(5)))
    struct PreloadedLibraryTests {
        private static let compiler = "/usr/bin/cc"

        /// Adds a variable, which moves the environment, before the Swift runtime has looked for the arguments beside
        /// it: as an initializer in a statically linked program, else with the runtime's own first call.
        private static let source = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stdio.h>
            #include <stdlib.h>

            __attribute__((constructor)) static void add(void) { setenv("ADDED", "1", 1); }

            FILE *fopen(const char *path, const char *mode) {
                add();
                return ((FILE *(*)(const char *, const char *))dlsym(RTLD_NEXT, "fopen"))(path, mode);
            }
            """

        @Test(
            "programs get their arguments although a preloaded library has moved the environment",
            .enabled(if: FileManager.default.isExecutableFile(atPath: compiler), "needs a C compiler at /usr/bin/cc"),
            arguments: [
                ("kvsd", "check"), ("kvs", "status"), ("usage-view", "--demo"),
                ("usage-push", "sources"), ("link", "doctor"),
            ])
        func movedEnvironment(program: String, argument: String) async throws {
            var home = try TemporaryHome()
            defer { home.remove() }
            let source = try home.file("library.c", Self.source)
            let library = home.path + "/library.so"
            let built = try await home.run(Self.compiler, ["-shared", "-fPIC", "-o", library, source, "-ldl"])
            try #require(built.status == 0, "\(built.errors)")
            home.variables["LD_PRELOAD"] = library

            let version = try await home.run(program, ["--version"])
            #expect(version.status == 0)
            #expect(version.text.wholeMatch(of: /[0-9]+\.[0-9]+\.[0-9]+\n/) != nil, "\(version)")
            let help = try await home.run(program, [argument, "--help"])
            #expect(help.status == 0 && help.text.contains("USAGE: \(program)"))
            #expect(try FileManager.default.contentsOfDirectory(atPath: home.path).count == 2)
        }
    }
#endif
