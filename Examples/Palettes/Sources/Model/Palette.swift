public import CoreData

/// A colour palette: the single entity of the article.
public class Palette: NSManagedObject {
    /// The number under which COLOURlovers knows the palette, as text.
    @NSManaged public var id: String
    /// Its name; the service calls it the title.
    @NSManaged public var name: String
    /// Who made it.
    @NSManaged public var username: String
    /// Its place among the best, 1 being the best.
    @NSManaged public var rank: Int64

    /// The colours as six hexadecimal digits each.
    @NSManaged public var colors: [String]
    /// The share of the whole width that each colour takes.
    @NSManaged public var widths: [Double]
}

extension Palette {
    /// The name of the entity.
    public static let entityName = "Palette"

    /// The order in which the service gives palettes: the best first.
    public static var defaultSortDescriptors: [NSSortDescriptor] { [NSSortDescriptor(key: "rank", ascending: true)] }

    /// A palette as the service or the file describes it, as values of the entity's properties.
    ///
    /// Keys that the answer does not have, or has in another form, are left out.
    static func values(dictionary: [String: Any]) -> [String: Any] {
        var values: [String: Any] = [:]
        values["id"] = identifier(in: dictionary)
        values["name"] = dictionary["title"] as? String
        values["username"] = dictionary["userName"] as? String
        values["rank"] = dictionary["rank"] as? Int
        values["colors"] = dictionary["colors"] as? [String]
        values["widths"] = dictionary["colorWidths"] as? [Double]
        return values
    }

    /// The identifier of the palette that a dictionary describes.
    static func identifier(in dictionary: [String: Any]) -> String? {
        (dictionary["id"] as? NSNumber)?.stringValue
    }

    /// Sets the attributes from a dictionary.
    ///
    /// - Returns: whether anything was different before.
    func transform(dictionary: [String: Any]) -> Bool {
        func describe() -> [String] { [id, name, username, "\(rank)"] + colors + widths.map { "\($0)" } }
        let before = describe()
        setValuesForKeys(Self.values(dictionary: dictionary))
        return describe() != before
    }
}
