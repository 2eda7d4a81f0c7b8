import CoreData
import Foundation
import RemoteStore
import RemoteStoreTesting

/// Contacts of an address book and of a sales service, under their e-mail address; the service has deals of them, too.
struct AddressWorld {
    let book: ScriptedBackend
    let sales: ScriptedBackend
    let backend: CombinedBackend

    static func model() -> NSManagedObjectModel {
        let contact = NSEntityDescription(name: "Contact")
        let deal = NSEntityDescription(name: "Deal")
        let deals = NSRelationshipDescription(name: "deals", destination: deal, toMany: true)
        deals.inverse(to: NSRelationshipDescription(name: "contact", destination: contact))
        contact.properties = [
            NSAttributeDescription(name: "email", type: .string), NSAttributeDescription(name: "name", type: .string),
            NSAttributeDescription(name: "phone", type: .string), NSAttributeDescription(name: "revenue", type: .integer64), deals,
        ]
        deal.properties = [NSAttributeDescription(name: "title", type: .string), deals.inverseRelationship!]
        return NSManagedObjectModel(entities: [contact, deal])
    }

    static func contacts(_ properties: [String], saving: Resource.Saving) -> Resource {
        Resource(
            "Contact",
            endpoints: [
                Endpoint(
                    "find",
                    parameters: properties.map { Parameter($0, operators: .all) }
                        + [Parameter("email", operators: .equality, maximumValues: 100)],
                    sorting: .by("name", "revenue", "email")),
                Endpoint("read", parameters: [Parameter("SELF", operators: .equality, isRequired: true, maximumValues: 100)]),
            ], saving: saving)
    }

    /// - Parameter isFilled: Whether Ann is in both, Bob in the book and Carl in sales.
    init(
        isFilled: Bool = true, identifiesAlike: Bool = false, saving: Resource.Saving = .init(maximumChanges: 10),
        salesSaving: Resource.Saving? = nil
    ) throws {
        let model = Self.model()
        book = ScriptedBackend(model, [Self.contacts(["name", "phone"], saving: saving)])
        sales = ScriptedBackend(
            model,
            [
                Self.contacts(["revenue"], saving: salesSaving ?? saving),
                Resource(
                    "Deal",
                    endpoints: [
                        Endpoint("all", parameters: [Parameter("contact", operators: .equality, maximumValues: 50)]),
                        Endpoint("info", parameters: [Parameter("SELF", isRequired: true, maximumValues: 50)]),
                    ], saving: .init()),
            ])
        backend = try CombinedBackend(
            model, at: URL(string: "contacts:all")!,
            [
                .init("addresses", book, [.init("Contact", by: "email", ["name", "phone"], identifiesAlike: identifiesAlike)]),
                .init("sales", sales, [.init("Contact", by: "email", ["revenue", "deals"], identifiesAlike: identifiesAlike)]),
            ])
        guard isFilled else { return }
        book.put("Contact", 1, ["email": "ann@a.example", "name": "Ann", "phone": "+49 1"])
        book.put("Contact", 2, ["email": "bob@a.example", "name": "Bob", "phone": "+44 2"])
        sales.put("Contact", 11, ["email": "carl@a.example", "revenue": 7])
        sales.put("Contact", 12, ["email": "ann@a.example", "revenue": 100])
        sales.put("Deal", 5, ["title": "Piano", "contact": .one(12)])
        sales.put("Deal", 6, ["title": "Organ", "contact": .one(11)])
    }

    func context() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model())
        try coordinator.addRemoteStore(backend)
        return coordinator.context()
    }

    /// The requests that the parts were sent since the last call, such as "sales read".
    func taken() -> [String] {
        defer {
            book.forgetRequests()
            sales.forgetRequests()
        }
        return book.requests.map { "book \($0.entity) \($0.endpoint)" } + sales.requests.map { "sales \($0.entity) \($0.endpoint)" }
    }

    /// What the parts have of a contact.
    func values(_ email: String) -> (book: [String: ResourceValue]?, sales: [String: ResourceValue]?) {
        func values(_ backend: ScriptedBackend) -> [String: ResourceValue]? {
            backend.ids("Contact").lazy.compactMap { backend.values("Contact", $0) }.first { $0["email"]?.string == email }
        }
        return (values(book), values(sales))
    }
}

/// What a service says of a change that it does not take.
struct Refusal: LocalizedError {
    let errorDescription: String? = "The quota is used up."
}
