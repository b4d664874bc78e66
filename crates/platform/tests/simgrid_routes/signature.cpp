// Prints a signature of all routes of a cluster in SimGrid: one line of golden.txt.
// Usage: signature KIND PARAMETERS POLICY, for instance: signature FAT_TREE "2;16,32;1,16;1,1" SPLITDUPLEX
// Each cluster needs a process of its own: SimGrid numbers the nodes of all its fat trees together.
#include <simgrid/s4u.hpp>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace sg = simgrid::s4u;

// Product of the numbers in a list such as "16,32".
static uint64_t product(const std::string& list)
{
  std::istringstream numbers(list);
  uint64_t product = 1;
  for (std::string number; std::getline(numbers, number, ',');)
    product *= std::stoull(number);
  return product;
}

static std::string platform_file(const std::string& kind, const std::string& parameters, const std::string& policy,
                                 uint64_t nodes)
{
  std::string cluster = "<cluster id='c' prefix='n' suffix='' radical='0-" + std::to_string(nodes - 1) +
                        "' speed='1Gf' bw='1GBps' lat='1us' sharing_policy='" + policy + "'";
  if (kind == "BACKBONE")
    cluster += " bb_bw='2GBps' bb_lat='1us'";
  else if (kind != "FLAT")
    cluster += " topology='" + kind + "' topo_parameters='" + parameters + "'";
  const char* name = "signature-platform.xml";
  std::ofstream(name) << "<?xml version='1.0'?>\n"
                      << "<!DOCTYPE platform SYSTEM 'https://simgrid.org/simgrid.dtd'>\n"
                      << "<platform version='4.1'><zone id='w' routing='Full'>" << cluster << "/></zone></platform>\n";
  return name;
}

int main(int argc, char** argv)
{
  sg::Engine engine(&argc, argv);
  if (argc != 4) {
    fprintf(stderr, "usage: %s FAT_TREE|TORUS|FLAT|BACKBONE PARAMETERS SPLITDUPLEX|SHARED\n", argv[0]);
    return 2;
  }
  const std::string kind = argv[1], parameters = argv[2], policy = argv[3];
  // The children are the second of a fat tree's four lists.
  size_t begin         = kind == "FAT_TREE" ? parameters.find(';') + 1 : 0;
  const uint64_t nodes = product(parameters.substr(begin, parameters.find(';', begin) - begin));
  engine.load_platform(platform_file(kind, parameters, policy, nodes));

  std::vector<sg::Host*> hosts;
  for (uint64_t i = 0; i < nodes; i++)
    hosts.push_back(sg::Host::by_name("n" + std::to_string(i)));

  // Links are numbered as they first occur, so that the signature does not depend on their names. FNV-1a, 64 bits.
  std::map<const sg::Link*, uint32_t> numbers;
  uint64_t hash = 0xcbf29ce484222325u;
  auto mix      = [&hash](uint32_t value) {
    for (int byte = 0; byte < 4; byte++)
      hash = (hash ^ ((value >> (8 * byte)) & 0xff)) * 0x100000001b3u;
  };
  auto add = [&](uint64_t from, uint64_t to) {
    std::vector<sg::Link*> links;
    double latency = 0;
    hosts[from]->route_to(hosts[to], links, &latency);
    mix(links.size());
    for (const auto* link : links)
      mix(numbers.try_emplace(link, numbers.size()).first->second);
  };
  // All pairs, or as many random ones.
  uint64_t pairs = nodes * nodes;
  if (pairs <= 400000) {
    for (uint64_t pair = 0; pair < pairs; pair++)
      add(pair / nodes, pair % nodes);
  } else {
    pairs        = 400000;
    uint64_t lcg = 1;
    auto next    = [&lcg, nodes] {
      lcg = lcg * 6364136223846793005u + 1442695040888963407u;
      return (lcg >> 33) % nodes;
    };
    for (uint64_t pair = 0; pair < pairs; pair++) {
      uint64_t from = next();
      add(from, next());
    }
  }
  printf("%s %s %s %zu %016llx\n", kind.c_str(), parameters.c_str(), policy.c_str(), numbers.size(),
         static_cast<unsigned long long>(hash));
}
