import KVStoreLog
import Logging
import ServerTestSupport
import Testing

@testable import KVStoreServer

#if PostgreSQL
    import KVStorePostgreSQL
#endif

/// What keeps the stores of a `TestServer`.
enum TestEngine: String, CaseIterable {
    case log
    case database

    @TaskLocal static var current = TestEngine.log

    /// Why its tests are skipped.
    var missing: String? {
        if self == .log { return nil }
        #if PostgreSQL
            return TemporaryPostgreSQL.missing
        #else
            return "the package was built without its trait PostgreSQL"
        #endif
    }
}

extension TestEngine {
    /// The engine that writes and the one that is watched: of two nodes on a database, or the same.
    func nodes(in directory: String, seed: UInt64) throws -> [any StorageEngine] {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        switch self {
        case .log:
            var options = LogEngine.Options()
            options.now = { Samples.now }
            return [
                try LogEngine(
                    storage: FileLogStorage(directory: directory), options: options, seed: seed, logger: logger)
            ]
        case .database:
            #if PostgreSQL
                var options = DatabaseEngine.Options()
                options.now = { Samples.now }
                let address = try TemporaryPostgreSQL.shared().makeDatabase()
                return try (0..<2).map { _ in
                    try DatabaseEngine(Database(address), options: options, logger: logger)
                }
            #else
                return []
            #endif
        }
    }
}

/// Runs the tests of a suite once with each engine, one after the other. Prints why one is skipped.
struct EngineTrait: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        for engine in TestEngine.allCases {
            if let missing = engine.missing {
                print("\(test.displayName ?? test.name): without a database, as \(missing).")
                continue
            }
            let naming = IssueHandlingTrait.compactMapIssues { issue in
                var issue = issue
                issue.comments.append("with the engine \(engine.rawValue)")
                return issue
            }
            try await TestEngine.$current.withValue(engine) {
                try await naming.provideScope(for: test, testCase: testCase, performing: body)
            }
        }
    }
}

/// A test of what only the log's engine has: its disk, and the memory that all stores take.
struct LogOnlyTrait: TestTrait, SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        if TestEngine.current == .log { try await body() }
    }
}

extension Trait where Self == EngineTrait {
    static var engines: EngineTrait { EngineTrait() }
}

extension Trait where Self == LogOnlyTrait {
    static var logOnly: LogOnlyTrait { LogOnlyTrait() }
}
