import CoreData
import Foundation
import TestSupport
import Testing

@_spi(Stores) @testable import ObjectGraph

/// Stores of the older versions of real models, opened with the current one. The suite runs when the environment names the folder of the models.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] != nil)) struct MaterialChainTests {
    private static var folder: URL { URL(fileURLWithPath: ProcessInfo.processInfo.environment["COREDATA_MATERIAL"] ?? "") }

    private static func bundles() -> [URL] {
        let files = FileManager.default.enumerator(at: folder.appendingPathComponent("models"), includingPropertiesForKeys: nil)
        var found: [URL] = []
        while let file = files?.nextObject() as? URL {
            if file.pathExtension == "xcdatamodeld" { found.append(file) }
        }
        return found.sorted { $0.path < $1.path }
    }

    @Test func storesOfOlderVersionsAreOpenedWithTheCurrentOneOrTheErrorNamesWhatCannotBeInferred() throws {
        var (opened, refused, models) = (0, [String](), 0)
        for bundle in Self.bundles() {
            guard let names = try? NSManagedObjectModel.versionNames(at: bundle), names.count > 1,
                let current = try? NSManagedObjectModel.currentVersionName(at: bundle), NSManagedObjectModel(contentsOf: bundle) != nil
            else { continue }
            models += 1
            let older = names.filter { $0 != current }
            // Of models with many versions a few: each opening reads all of them.
            for (place, name) in older.enumerated() where place % (1 + older.count / 4) == 0 {
                let shop = try Workshop()
                let coordinator = try NSManagedObjectModel(reading: bundle, version: name).opening(shop.store, type: NSSQLiteStoreType)
                for store in coordinator.persistentStores { try coordinator.remove(store) }
                let before = try shop.bytes()
                let error = openingFailure {
                    let model = try NSManagedObjectModel(reading: bundle)
                    try model.migrating(shop.store, type: NSSQLiteStoreType)
                    try NSManagedObjectModel(reading: bundle).opening(shop.store, type: NSSQLiteStoreType)
                }
                if let error {
                    expect(error.code, equals: NSInferredMappingModelError, "\(bundle.lastPathComponent) \(name): \(error)")
                    #expect(try shop.bytes() == before || error.code != NSInferredMappingModelError)
                    refused.append("\(bundle.lastPathComponent) \(name): \(error.localizedFailureReason ?? "")")
                } else {
                    opened += 1
                }
            }
        }
        print("MaterialChainTests: \(models) models, \(opened) older versions opened, refused: \(refused)")
        #expect(opened > 15)
    }

    @Test func aChainOfRealMappingModelsIsTakenWhereNothingLeadsThereDirectly() throws {
        _ = try MoodyMigrationTests.model(1)
        let shop = try Workshop()
        let owner = "objcio+core-data/Migrations/Migrations"
        let bundle = shop.url.appendingPathComponent("Moody.xcdatamodeld")
        try FileManager.default.copyItem(at: Self.folder.appendingPathComponent("models/\(owner)/Moody.xcdatamodeld"), to: bundle)
        for file in try FileManager.default.contentsOfDirectory(atPath: Self.folder.appendingPathComponent("mapping/\(owner)").path) {
            try FileManager.default.copyItem(
                at: Self.folder.appendingPathComponent("mapping/\(owner)/\(file)"), to: shop.url.appendingPathComponent(file))
        }
        let last = try #require(
            NSManagedObjectModel.versionNames(at: bundle).max(by: { $0.compare($1, options: .numeric) == .orderedAscending }))
        let old = try NSManagedObjectModel(reading: bundle, version: "Moody 2").opening(shop.store, type: NSSQLiteStoreType)
        for store in old.persistentStores { try old.remove(store) }
        let model = try NSManagedObjectModel(reading: bundle, version: last)
        let description = NSPersistentStoreDescription(url: shop.store)
        description.shouldInferMappingModelAutomatically = false
        let plan = try NSPersistentStoreCoordinator(managedObjectModel: model).migrationPlan(for: description)
        expect(plan.steps.count, equals: 4)
        for step in plan.steps {
            guard case .mappingModel(let name) = step.way else {
                Issue.record("\(step)")
                continue
            }
            #expect(name.hasPrefix("Moody "))
        }
        try NSManagedObjectModel(reading: bundle, version: last).migrating(
            shop.store, [NSInferMappingModelAutomaticallyOption: false], type: NSSQLiteStoreType)
        try NSManagedObjectModel(reading: bundle, version: last).opening(shop.store, type: NSSQLiteStoreType)
    }
}
