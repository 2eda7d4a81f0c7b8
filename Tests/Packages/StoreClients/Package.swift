// swift-tools-version: 6.1

import PackageDescription

// Programs that use the SQLite store without naming its class, one directly and one by way of a static library: `import CoreData` has to
// register it in both.
let package = Package(
    name: "StoreClients",
    dependencies: [.package(name: "OpenCoreData", path: "../../.."), .package(path: "../StoreLibrary")],
    targets: [
        .executableTarget(name: "StaticClient", dependencies: [.product(name: "StoreLibrary", package: "StoreLibrary")]),
        .executableTarget(name: "DirectClient", dependencies: [.product(name: "CoreData", package: "OpenCoreData")]),
    ]
)
