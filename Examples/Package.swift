// swift-tools-version: 6.2
import PackageDescription

let store = Target.Dependency.product(name: "KVStore", package: "ubiquity")
let testing = Target.Dependency.product(name: "KVStoreTesting", package: "ubiquity")

let package = Package(
    name: "Examples",
    platforms: [.macOS(.v15), .iOS(.v18)],
    // Without traits: only the store, and nothing is fetched.
    dependencies: [.package(name: "ubiquity", path: "..", traits: [])],
    targets: [
        .target(name: "FirstLaunch", dependencies: [store]),
        .testTarget(name: "FirstLaunchTests", dependencies: ["FirstLaunch", store, testing]),
        .target(name: "Notebook", dependencies: [store]),
        .testTarget(name: "NotebookTests", dependencies: ["Notebook", store, testing]),
        .target(name: "Tally", dependencies: [store]),
        .testTarget(name: "TallyTests", dependencies: ["Tally", store, testing]),
    ]
)
