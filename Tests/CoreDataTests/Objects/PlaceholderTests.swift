import CoreData
import TestSupport
import Testing

@testable import ObjectGraph

private struct Settings: Codable, Equatable {
    var name: String
    var size: Int
    var kind: Kind
    enum Kind: String, Codable { case plain, fancy }
}

private struct Picky: Codable {
    let count: Int
    init(from decoder: any Decoder) throws {
        count = try decoder.singleValueContainer().decode(Int.self)
        if count == 0 { throw DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: "none")) }
    }
}

final class Cabinet: NSManagedObject {
    fileprivate var settings: Settings? { codableValue("settings") }
    fileprivate var picky: Picky? { codableValue("picky") }

    static func model() -> NSManagedObjectModel {
        NSManagedObjectModel(
            entities: [
                NSEntityDescription(
                    name: "Cabinet", managedObjectClass: Cabinet.self,
                    properties: [
                        NSAttributeDescription(name: "settings", type: .binaryData),
                        NSAttributeDescription(name: "picky", type: .binaryData),
                    ])
            ])
    }
}

@Suite("Values that are made to read a key path with") struct PlaceholderTests {
    private enum Plain { case first, second }
    private enum Only { case one }
    private enum Never {}
    private enum Loaded { case address(UnsafeRawPointer), none }
    /// Its bytes may not all be zero, though they are trivial.
    private struct Address { let place: UnsafeRawPointer }
    private struct Reference { let object: Unmanaged<NSObject> }
    private struct Flags: OptionSet { let rawValue: Int16 }

    @Test("A value is made where the type says how, and never of bytes that may be none of its values")
    func values() {
        expect(Placeholder.value(of: Plain.self), equals: .first)
        expect(Placeholder.value(of: Only.self), equals: .one)
        expect(Placeholder.value(of: Flags.self)?.rawValue, equals: 0)
        expect(Placeholder.value(of: Int16.self), equals: 0)
        expect(Placeholder.value(of: Settings.self), equals: Settings(name: "", size: 0, kind: .plain))
        expect(Placeholder.value(of: [Settings].self), equals: [])
        #expect(Placeholder.value(of: Never.self) == nil)
        #expect(Placeholder.value(of: Loaded.self) == nil)
        #expect(Placeholder.value(of: Address.self) == nil)
        #expect(Placeholder.value(of: Reference.self) == nil)
        #expect(Placeholder.value(of: Picky.self) == nil)
    }

    @Test("A forced key path of a coded property has the property's name, or an error where no value can be made")
    func forced() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Cabinet.model())
        defer { withExtendedLifetime(coordinator) {} }
        try expect(KeyPathNames.path(of: \Cabinet.settings!), equals: "settings")
        try expect(KeyPathNames.path(of: \Cabinet.picky), equals: "picky")
        let error = try #require(failure { _ = try KeyPathNames.path(of: \Cabinet.picky!) })
        #expect(String(describing: error).contains("leave out the"))
    }
}
