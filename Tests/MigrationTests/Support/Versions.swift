import CoreData
import Foundation
import TestSupport

@_spi(Stores) @testable import ObjectGraph

/// Models of people, version by version, and what opens stores with them.
enum People {
    /// A model of one entity, `Person`, with attributes that are optional texts unless the name begins with `#`: then they are integers. A name
    /// `new<old` has the renaming identifier `old`; `!name` is required.
    static func model(_ attributes: String..., identifier: String? = nil, entities: [String] = []) -> NSManagedObjectModel {
        func entity(_ name: String, _ attributes: [String]) -> NSEntityDescription {
            let entity = NSEntityDescription()
            entity.name = name
            entity.properties = attributes.map { text in
                let attribute = NSAttributeDescription()
                let parts = text.trimmingCharacters(in: ["#", "!"]).components(separatedBy: "<")
                attribute.name = parts[0]
                if parts.count == 2 { attribute.renamingIdentifier = parts[1] }
                attribute.attributeType = text.contains("#") ? .integer64AttributeType : .stringAttributeType
                attribute.isOptional = !text.contains("!")
                return attribute
            }
            return entity
        }
        let model = NSManagedObjectModel(entities: [entity("Person", attributes)] + entities.map { entity($0, ["note"]) })
        if let identifier { model.versionIdentifiers = [identifier] }
        return model
    }
}

/// A folder for stores and bundles of models, which goes with it.
final class Workshop {
    private let scratch: ScratchFolder
    var url: URL { scratch.url }
    var store: URL { url.appendingPathComponent("stores/people.store") }

    init() throws {
        scratch = try ScratchFolder("migration")
        try FileManager.default.createDirectory(at: url.appendingPathComponent("stores"), withIntermediateDirectories: true)
    }

    /// Writes a bundle of versions, “People” to “People n”, and returns it.
    @discardableResult func bundle(_ versions: [NSManagedObjectModel], name: String = "People") throws -> URL {
        let bundle = url.appendingPathComponent("\(name).xcdatamodeld")
        try? FileManager.default.removeItem(at: bundle)
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        for (number, model) in versions.enumerated() {
            try model.write(
                toXCDataModel: bundle.appendingPathComponent(number == 0 ? "\(name).xcdatamodel" : "\(name) \(number + 1).xcdatamodel"))
        }
        let current = versions.count == 1 ? "\(name).xcdatamodel" : "\(name) \(versions.count).xcdatamodel"
        try PropertyListSerialization.data(fromPropertyList: ["_XCCurrentVersionName": current], format: .xml, options: 0)
            .write(to: bundle.appendingPathComponent(".xccurrentversion"))
        return bundle
    }

    /// Every file of the stores' folder, with its bytes.
    func bytes() throws -> [String: Data] {
        let folder = store.deletingLastPathComponent()
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            files[name] = FileManager.default.contents(atPath: folder.appendingPathComponent(name).path)
        }
        return files
    }
}

extension NSManagedObjectModel {
    /// Opens the store at a place with the model, and returns the coordinator.
    @discardableResult func opening(
        _ url: URL, _ options: [AnyHashable: Any] = [:], type: String = PaperStore.type, configuration: String? = nil
    ) throws -> NSPersistentStoreCoordinator {
        PaperStore.registered
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: self)
        try coordinator.addPersistentStore(ofType: type, configurationName: configuration, at: url, options: options)
        return coordinator
    }

    /// Opens the store at a place, migrating it.
    @discardableResult func migrating(
        _ url: URL, _ options: [AnyHashable: Any] = [:], type: String = PaperStore.type, configuration: String? = nil
    ) throws -> NSPersistentStoreCoordinator {
        try opening(
            url,
            [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true].merging(options) { $1 },
            type: type, configuration: configuration)
    }
}

/// The error that `body` throws; nil when it throws none.
func openingFailure(_ body: () throws -> Void) -> NSError? {
    do {
        try body()
        return nil
    } catch {
        return error as NSError
    }
}
