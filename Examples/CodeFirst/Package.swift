// swift-tools-version: 6.1

import PackageDescription

// The model of Examples/ModelLayer without a model file: its classes declare their entities.
let package = Package(
    name: "CodeFirst",
    dependencies: [.package(name: "OpenCoreData", path: "../..", traits: ["Macros"])],
    targets: [
        .target(name: "MusicLibrary", dependencies: [.product(name: "CoreDataMacros", package: "OpenCoreData")]),
        .testTarget(name: "MusicLibraryTests", dependencies: ["MusicLibrary"]),
    ]
)
