// swift-tools-version: 6.2
import PackageDescription

let store = Target.Dependency.product(name: "KVStore", package: "ubiquity")
let network = Target.Dependency.product(name: "KVStoreHTTP", package: "ubiquity")
let testing = Target.Dependency.product(name: "KVStoreTesting", package: "ubiquity")

let package = Package(
    name: "GroceryList",
    platforms: [.macOS(.v15), .iOS(.v18)],
    dependencies: [.package(name: "ubiquity", path: "../..")],
    targets: [
        .target(name: "Groceries", dependencies: [store]),
        .executableTarget(name: "GroceryList", dependencies: ["Groceries", store, network]),
        .testTarget(name: "GroceriesTests", dependencies: ["Groceries", store, network, testing]),
    ]
)
