// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .treatAllWarnings(as: .error),
]

/// Of one trait each build: SwiftPM passes the names of several to the compiler in random order, and any other order compiles
/// everything again. Without any (`traits: []`), in an app that embeds `KVStore` alone, nothing is fetched. `scripts/run` builds
/// its two programs without the network, whose packages take most of a build.
let programs = TargetDependencyCondition.when(traits: ["Programs", "Network", "PostgreSQL"])
let network = TargetDependencyCondition.when(traits: ["Network", "PostgreSQL"])

func product(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: network)
}

let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: programs)
let asyncHTTPClient = product("AsyncHTTPClient", "async-http-client")
let crypto = product("Crypto", "swift-crypto")
let httpTypes = product("HTTPTypes", "swift-http-types")
let logging = product("Logging", "swift-log")
let nioCore = product("NIOCore", "swift-nio")
let nioHTTP1 = product("NIOHTTP1", "swift-nio")
let nioPosix = product("NIOPosix", "swift-nio")
let nioSSL = product("NIOSSL", "swift-nio-ssl")
let nioTLS = product("NIOTLS", "swift-nio")
let swiftASN1 = product("SwiftASN1", "swift-asn1")
let x509 = product("X509", "swift-certificates")

/// What several targets need.
let command: [Target.Dependency] = [
    "CommandSupport", "CommandRunner", "TerminalText", "LocalFiles", argumentParser, "Essentials",
]
let storeCommand = command + ["StoreCommands", "KVStoreEssentials", "KVStoreHTTP"]
let storage: [Target.Dependency] = ["KVStoreCore", "KVStoreLog", "LocalFiles"]
let engine: [Target.Dependency] = [
    "KVStoreCore", "KVStoreLedger", "KVStoreLog", "KVStoreSimulation", "KVStoreWire",
]
let usage: [Target.Dependency] = ["UsageState", "SnapshotModels"]
let nio: [Target.Dependency] = [nioCore, nioHTTP1, nioPosix, nioSSL]
let serverTests: [Target.Dependency] = ["ProgramTesting", "ServerTestSupport", httpTypes, nioCore]

let targets: [Target] = [
    .target(name: "Essentials"),
    .target(name: "LocalFiles", dependencies: ["Essentials"]),
    .target(name: "KVStoreCore", dependencies: ["Essentials"]),
    .target(name: "CChecksum"),
    .systemLibrary(
        name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
    .target(
        name: "PostgreSQLClient",
        dependencies: [
            .target(name: "CPostgreSQL", condition: .when(traits: ["PostgreSQL"])), "TerminalText",
            "Essentials",
        ]),
    .target(
        name: "KVStoreLog", dependencies: ["CChecksum", "KVStoreCore", "LocalFiles", "Essentials"]),
    .target(name: "KVStoreEssentials", dependencies: storage + ["Essentials"]),
    .target(name: "KVStore", dependencies: ["KVStoreEssentials", "KVStoreCore"]),
    .target(name: "KVStoreLedger", dependencies: storage + ["Essentials"]),
    .target(name: "KVStoreWire", dependencies: ["KVStoreCore", "Essentials"]),
    .target(name: "KVStoreDocuments", dependencies: ["KVStoreCore", "Essentials"]),
    .target(name: "SnapshotModels", dependencies: ["Essentials"]),
    .target(name: "TerminalText", dependencies: ["Essentials"]),
    .target(
        name: "TerminalSessions", dependencies: ["CommandSupport", "TerminalText", "Essentials"]),
    .target(
        name: "UsageState",
        dependencies: ["SnapshotModels", "KVStoreWire", "TerminalText", "Essentials"]),
    .target(name: "CommandSupport", dependencies: ["TerminalText", "Essentials"]),
    .target(name: "CProgramArguments"),
    .target(
        name: "CommandRunner",
        dependencies: ["CProgramArguments", "CommandSupport", argumentParser]),
    .target(
        name: "BackgroundServices",
        dependencies: ["CommandSupport", "LocalFiles", "TerminalText", "Essentials"]),
    .target(
        name: "KVStoreSimulation",
        dependencies: storage + ["KVStoreDocuments", "KVStoreWire", "Essentials"]),
    .target(
        name: "KVStoreTesting",
        dependencies: storage + [
            "KVStore", "KVStoreDocuments", "KVStoreLedger", "KVStoreSimulation", "KVStoreWire",
        ]),
    .target(
        name: "KVStoreSealed",
        dependencies: [
            "KVStoreCore", "KVStoreEssentials", "KVStoreWire", "LocalFiles", "Essentials", crypto,
        ], resources: [.embedInCode("Resources/words.txt")]),
    .target(
        name: "KVStoreHTTP",
        dependencies: nio + [
            "KVStoreEssentials", "KVStoreCore", "KVStoreWire", "LocalFiles", asyncHTTPClient,
            crypto, "Essentials",
        ]),
    .target(name: "OutgoingHTTP", dependencies: nio + ["Essentials"]),
    .target(name: "WebPush", dependencies: ["OutgoingHTTP", "KVStoreWire", crypto, "Essentials"]),
    .target(name: "SQLiteReading", dependencies: ["LocalFiles", "Essentials"]),
    .target(
        name: "UsagePusher",
        dependencies: ["SnapshotModels", "SQLiteReading", "LocalFiles", "CommandSupport"],
        resources: [.embedInCode("Tokens/model-prices.json")]),
    .target(
        name: "UsageAlerts",
        dependencies: usage + [
            "UsagePusher", "KVStoreEssentials", "LocalFiles", "OutgoingHTTP", "TerminalText",
            "CommandSupport", "Essentials",
        ]),
    .executableTarget(
        name: "usage-push",
        dependencies: usage + [
            "UsageAlerts", "OutgoingHTTP", "UsagePusher", "KVStore", "KVStoreHTTP", "TerminalText",
            "StoreCommands", "BackgroundServices", "CommandSupport", "CommandRunner", "LocalFiles",
            argumentParser,
        ]),
    .executableTarget(
        name: "usage-view",
        dependencies: storeCommand + usage + ["KVStoreDocuments", "TerminalSessions"]),
    .target(
        name: "StoreCommands",
        dependencies: [
            "KVStoreEssentials", "KVStoreHTTP", "CommandSupport", "LocalFiles", "Essentials",
        ]),
    .executableTarget(
        name: "kvs", dependencies: storeCommand + usage + ["KVStoreDocuments", "KVStoreSealed"]),
    .target(name: "ClipCore"),
    .executableTarget(
        name: "clip",
        dependencies: storeCommand + [
            "ClipCore", "KVStoreSealed", "BackgroundServices", "TerminalSessions", "SQLiteReading",
            crypto,
        ]),
    .target(name: "LinkCore", dependencies: ["Essentials"]),
    .executableTarget(
        name: "link", dependencies: storeCommand + ["LinkCore", "BackgroundServices"]),
    .target(
        name: "KVStoreServer",
        dependencies: storage + nio + [
            "KVStoreEssentials", "KVStoreDocuments", "KVStoreLedger", "KVStoreWire", crypto,
            logging, swiftASN1, x509, "Essentials",
        ]),
    .target(
        name: "KVStorePostgreSQL",
        dependencies: engine + [
            "KVStoreServer", "PostgreSQLClient", crypto, logging, nioCore, "Essentials",
        ]),
    .target(
        name: "WebPages",
        dependencies: ["KVStoreServer", "KVStoreWire", crypto, nioCore, nioHTTP1, "Essentials"],
        resources: [.embedInCode("Shared")]),
    .target(
        name: "KVStoreEmulator",
        dependencies: engine + [
            "KVStoreServer", "WebPages", "KVStoreEssentials", "KVStoreDocuments", crypto, logging,
            nioCore, nioHTTP1, nioPosix, "Essentials",
        ], resources: [.embedInCode("Page")]),
    .target(
        name: "UsageEndpoint",
        dependencies: usage + [
            "KVStoreServer", "KVStoreEssentials", "KVStoreCore", "KVStoreWire", "TerminalText",
            "CommandSupport", crypto, nioCore, nioHTTP1, "Essentials",
        ]),
    .target(
        name: "UsageNotifications",
        dependencies: [
            "KVStoreServer", "KVStoreEssentials", "KVStoreCore", "KVStoreWire", "UsageState",
            "WebPush", "OutgoingHTTP", "LocalFiles", logging, nioHTTP1, "Essentials",
        ]),
    .target(
        name: "UsagePage",
        dependencies: [
            "KVStoreServer", "KVStoreWire", "UsageEndpoint", "WebPages", nioHTTP1, "Essentials",
        ], resources: [.embedInCode("Page")]),
    .executableTarget(
        name: "kvsd",
        dependencies: command + engine + [
            "KVStoreServer", "KVStorePostgreSQL", "KVStoreEmulator", "OutgoingHTTP", logging,
            "UsageNotifications", "UsagePage", "KVStoreEssentials", "BackgroundServices",
        ]),
    .target(
        name: "SimulatedWorld",
        dependencies: storage + [
            "KVStore", "KVStoreLedger", "KVStoreSimulation", "KVStoreTesting",
        ], path: "Tests/Support/SimulatedWorld"),
    .executableTarget(
        name: "simulate", dependencies: ["SimulatedWorld", "CommandSupport", argumentParser],
        path: "Tests/Support/simulate"),
    .executableTarget(
        name: "store-benchmarks",
        dependencies: storage + [
            "KVStoreEssentials", "KVStoreLedger", "KVStoreWire", "Essentials",
        ], path: "Benchmarks/store-benchmarks"),
    .target(
        name: "FuzzTargets",
        dependencies: engine + ["KVStore", "KVStoreEssentials", "SnapshotModels"],
        path: "Tests/Support/FuzzTargets"),
    .testTarget(name: "FuzzTests", dependencies: ["FuzzTargets"]),
    .target(name: "SeededRandomness", path: "Tests/Support/SeededRandomness"),
    .testTarget(name: "LocalFilesTests", dependencies: ["LocalFiles"]),
    .testTarget(name: "SnapshotModelsTests", dependencies: ["SnapshotModels", "SeededRandomness"]),
    .testTarget(
        name: "TerminalTextTests",
        dependencies: ["TerminalText", "ProgramTesting", "SeededRandomness"]),
    .target(name: "ProgramTesting", path: "Tests/Support/ProgramTesting"),
    .testTarget(
        name: "TerminalSessionsTests",
        dependencies: ["TerminalSessions", "ProgramTesting", "SeededRandomness"]),
    .testTarget(
        name: "CommandSupportTests",
        dependencies: ["CommandSupport", "ProgramTesting", "Essentials"]),
    .testTarget(name: "BackgroundServicesTests", dependencies: ["BackgroundServices"]),
    .target(
        name: "TestSupport", dependencies: ["KVStoreCore", "KVStoreLog", "KVStoreSimulation"],
        path: "Tests/Support/TestSupport"),
    .testTarget(name: "KVStoreCoreTests", dependencies: ["KVStoreCore", "TestSupport"]),
    .testTarget(
        name: "KVStoreLogTests", dependencies: storage + ["KVStoreSimulation", "TestSupport"]),
    .testTarget(
        name: "KVStoreLedgerTests",
        dependencies: storage + ["KVStoreLedger", "KVStoreSimulation", "TestSupport"]),
    .testTarget(
        name: "KVStoreTests",
        dependencies: storage + [
            "KVStore", "KVStoreEssentials", "KVStoreSimulation", "TestSupport",
        ]),
    .testTarget(
        name: "ProtocolModelTests",
        dependencies: ["KVStoreCore", "SeededRandomness", "TestSupport"]),
    .testTarget(name: "SimulatedWorldTests", dependencies: ["SimulatedWorld"]),
    .testTarget(
        name: "SimulatedCloudTests",
        dependencies: ["KVStoreTesting", "KVStore", "KVStoreCore", "KVStoreLedger"]),
    .testTarget(
        name: "KVStoreWireTests",
        dependencies: ["KVStoreWire", "KVStoreCore", "SeededRandomness", "TestSupport"]),
    .testTarget(
        name: "KVStoreSealedTests",
        dependencies: [
            "KVStoreSealed", "KVStoreTesting", "KVStore", "KVStoreCore", "SeededRandomness",
            "TestSupport", crypto,
        ]),
    .testTarget(
        name: "KVStoreHTTPTests",
        dependencies: [
            "KVStoreHTTP", "KVStoreWire", "KVStore", "KVStoreEssentials", "LocalFiles",
            "StoreCommands", nioCore, nioPosix,
        ]),
    .testTarget(
        name: "UsagePusherTests",
        dependencies: [
            "UsagePusher", "SQLiteReading", "BackgroundServices", "SnapshotModels", "LocalFiles",
            "SeededRandomness",
        ]),
    .testTarget(name: "OutgoingHTTPTests", dependencies: ["OutgoingHTTP"]),
    .testTarget(
        name: "WebPushTests",
        dependencies: ["WebPush", "OutgoingHTTP", "KVStoreWire", "PushTesting", crypto]),
    .target(
        name: "PushTesting",
        dependencies: ["WebPush", "KVStoreWire", crypto, nioCore, nioHTTP1, nioPosix],
        path: "Tests/Support/PushTesting"),
    .testTarget(
        name: "UsageNotificationsTests",
        dependencies: usage + [
            "UsageNotifications", "KVStoreServer", "KVStoreCore", "PushTesting",
            "ServerTestSupport", "TestSupport", "OutgoingHTTP", httpTypes, nioCore, nioSSL,
        ]),
    .testTarget(
        name: "UsageAlertsTests",
        dependencies: usage + [
            "UsageAlerts", "OutgoingHTTP", "UsagePusher", "KVStore", "KVStoreTesting", "LocalFiles",
            "SeededRandomness", "ProgramTesting", .target(name: "PushTesting", condition: network),
        ]),
    .testTarget(
        name: "UsagePushTests",
        dependencies: usage + [
            "usage-push", "usage-view", "kvs", "kvsd", "UsagePusher", "KVStoreEssentials",
            "KVStoreHTTP", "TerminalText", "ProgramTesting",
        ]),
    .testTarget(
        name: "UsageViewTests",
        dependencies: usage + [
            "usage-view", "usage-push", "CommandSupport", "TerminalSessions", "TerminalText",
            "ProgramTesting", "SeededRandomness", "KVStoreCore", "KVStoreEssentials", "KVStoreHTTP",
            "KVStoreWire",
        ]),
    .testTarget(
        name: "KvsTests",
        dependencies: [
            "kvs", "KVStore", "KVStoreCore", "KVStoreDocuments", "CommandSupport", "BrowserTesting",
            "ProgramTesting", "SeededRandomness", "ServerTestSupport", "SnapshotModels", httpTypes,
        ]),
    .testTarget(name: "ClipCoreTests", dependencies: ["ClipCore", "SeededRandomness"]),
    .testTarget(
        name: "ClipTests",
        dependencies: [
            "clip", "link", "kvs", "kvsd", "ClipCore", "KVStoreEssentials", "KVStoreHTTP",
            "KVStoreSealed",
            "CommandSupport", "LocalFiles", "TerminalSessions", "TerminalText", "ProgramTesting",
            "SeededRandomness", "Essentials",
        ]),
    .testTarget(
        name: "LinkTests",
        dependencies: [
            "link", "LinkCore", "kvs", "kvsd", "KVStoreEssentials", "KVStoreHTTP", "ProgramTesting",
        ]),
    .target(
        name: "ServerTestSupport",
        dependencies: nio + ["KVStoreCore", "KVStoreWire", httpTypes, logging],
        path: "Tests/Support/ServerTestSupport"),
    .target(name: "BrowserTesting", dependencies: serverTests, path: "Tests/Support/BrowserTesting"),
    .target(name: "UsageTesting", dependencies: usage, path: "Tests/Support/UsageTesting"),
    .testTarget(
        name: "BrowserTestingTests",
        dependencies: ["BrowserTesting", "ProgramTesting", "KVStoreServer"]),
    .testTarget(
        name: "KVStoreServerTests",
        dependencies: storage + [
            "KVStoreServer", "KVStorePostgreSQL", "PostgreSQLTesting", "ServerTestSupport",
            "TestSupport", "KVStoreLedger", "KVStoreSimulation", "KVStoreWire", crypto, httpTypes,
            logging, nioCore, nioPosix, nioSSL, nioTLS, swiftASN1, x509,
        ]),
    .testTarget(
        name: "KvsdTests",
        dependencies: usage + serverTests + engine + [
            "kvsd", "PushTesting", "TestSupport", "KVStoreServer", "PostgreSQLClient",
            "PostgreSQLTesting", "UsageEndpoint", "UsageTesting", nioHTTP1, nioPosix, nioSSL,
        ]),
    .testTarget(
        name: "EmulatorTests",
        dependencies: serverTests + [
            "kvs", "kvsd", "KVStore", "KVStoreCore", "KVStoreDocuments", "KVStoreHTTP",
            "KVStoreEmulator", "KVStoreLedger", "KVStoreServer", "KVStoreTesting", "KVStoreWire",
            "BrowserTesting", "TestSupport", nioHTTP1,
        ]),
    .testTarget(
        name: "UsagePageTests",
        dependencies: usage + serverTests + [
            "kvs", "kvsd", "usage-view", "CommandSupport", "TerminalText", "KVStoreServer",
            "WebPages", "BrowserTesting", "UsageTesting",
        ]),
    .target(
        name: "PostgreSQLTesting", dependencies: ["PostgreSQLClient"],
        path: "Tests/Support/PostgreSQLTesting"),
    .testTarget(
        name: "PostgreSQLClientTests",
        dependencies: ["PostgreSQLClient", "PostgreSQLTesting", "Essentials"]),
    .testTarget(
        name: "KVStorePostgreSQLTests",
        dependencies: engine + serverTests + [
            "KVStorePostgreSQL", "KVStoreServer", "PostgreSQLClient", "PostgreSQLTesting",
            "TestSupport", logging, "Essentials",
        ]),
    .testTarget(name: "TidyTests"),
]

let doors = [
    "Store": [
        "KVStoreCore", "KVStoreLog", "KVStoreEssentials", "KVStoreLedger", "KVStoreWire", "KVStoreDocuments", "KVStoreHTTP", "KVStoreSealed", "KVStoreSimulation",
    ],
    "Server": [
        "KVStoreServer", "KVStorePostgreSQL", "PostgreSQLClient", "WebPages",
    ],
    "Usage": [
        "UsageState", "UsageAlerts", "UsageEndpoint", "UsageNotifications", "UsagePage", "WebPush", "usage-push",
    ],
    "Testing": [
        "KVStoreTesting", "KVStoreEmulator",
    ],
    "Companions": [
        "clip", "ClipCore", "link", "LinkCore",
    ],
    "Machine": [
        "Essentials", "LocalFiles", "SQLiteReading", "TerminalText", "TerminalSessions", "CommandSupport", "CommandRunner", "BackgroundServices", "StoreCommands", "OutgoingHTTP", "CChecksum", "CProgramArguments", "CPostgreSQL",
    ],
    "Programs": [
        "kvs",
    ],
]
for (door, names) in doors {
    for target in targets where names.contains(target.name) {
        target.path = "Sources/\(door)/\(target.name)"
    }
}

let package = Package(
    name: "ubiquity",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        "KVStore", "KVStoreTesting", "SnapshotModels", "KVStoreHTTP", "KVStoreSealed",
        "KVStoreServer", "KVStoreEmulator", "UsagePusher",
    ].map { .library(name: $0, targets: [$0]) }
        + ["usage-push", "usage-view", "kvs", "kvsd", "clip", "link"].map {
            .executable(name: $0, targets: [$0])
        },
    traits: [
        .default(enabledTraits: ["Network"]),
        .trait(name: "Network", description: "All programs and libraries, with HTTP and TLS."),
        .trait(name: "Programs", description: "The programs without the network, on one machine."),
        .trait(name: "PostgreSQL", description: "Network with kvsd on PostgreSQL; needs libpq."),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    ],
    targets: targets
)

// Needs libFuzzer, which 'scripts/fuzz' links.
if Context.environment["UBIQUITY_FUZZ"] != nil {
    package.targets += [
        .target(name: "CLibFuzzer", path: "Tests/Support/CLibFuzzer"),
        .executableTarget(
            name: "fuzz", dependencies: ["FuzzTargets", "CLibFuzzer"], path: "Tests/Support/fuzz"),
    ]
}

for target in package.targets where target.type != .system { target.swiftSettings = strict }
