// swift-tools-version: 6.1

import PackageDescription

// A static library on top of CoreData, for Tests/Packages/StoreClients.
let package = Package(
    name: "StoreLibrary",
    products: [.library(name: "StoreLibrary", type: .static, targets: ["StoreLibrary"])],
    dependencies: [.package(name: "OpenCoreData", path: "../../..")],
    targets: [.target(name: "StoreLibrary", dependencies: [.product(name: "CoreData", package: "OpenCoreData")])]
)
